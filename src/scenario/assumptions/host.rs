//! What is assumed about where clients run.

use crate::dist::Distribution;
use crate::host::{Host, PoolScope, TimeoutStarts};
use crate::scenario::Client;
use crate::units::Span;

/// The lines of a group.
pub fn lines(client: &Client, lines: &mut Vec<String>) {
    if let Some(host) = client.host.filter(|host| !host.is_idle()) {
        of_host(&host, lines);
    }
    let Some(network) = &client.network else { return };
    if network.latency != Distribution::Constant(Span::ZERO) {
        lines.push(format!(
            "attempts take {} to the provider and what comes back as long again; peaks count arrivals at the provider, and that a client has gone is noticed at once",
            network.latency
        ));
    }
    if network.loss > 0.0 {
        lines.push(format!(
            "a share of {} of attempts, and of what comes back, is lost: their clients wait until a limit of time",
            network.loss
        ));
    }
}

fn of_host(host: &Host, lines: &mut Vec<String>) {
    if host.cpu_per_attempt > Span::ZERO || host.cpu_per_answer > Span::ZERO {
        let processes = match host.processes {
            1 => "all clients run in one process".to_owned(),
            n => format!("client i runs in process i mod {n}"),
        };
        lines.push(format!(
            "{processes}, which is busy for {} with every attempt before it is sent and for {} with every answer before its client knows it, one after the other",
            host.cpu_per_attempt, host.cpu_per_answer
        ));
    }
    if let Some(connections) = host.connections {
        let shared_by = match connections.scope {
            PoolScope::Client => "client",
            PoolScope::Process => "process",
            PoolScope::Group => "group",
        };
        lines.push(format!(
            "{} connections per {shared_by}, first come, first served; an attempt holds one until it is answered or given up",
            connections.limit
        ));
    }
    lines.push(match host.timeout_starts {
        TimeoutStarts::AtCall => {
            "waiting for a connection and for the process counts towards all limits of time"
                .to_owned()
        }
        TimeoutStarts::AtSend => {
            "the timeout of the innermost layer starts when an attempt is sent".to_owned()
        }
    });
}
