//! Tasks of agents: which calls follow from which.

use super::Observer;
use super::simulation::Simulation;
use crate::answer::Outcome;
use crate::engine::{Class, Pending};
use crate::server::Tokens;
use crate::units::Time;
use crate::workload::Agents;

/// A task under way.
#[derive(Clone, Copy, Debug, Default)]
struct Task {
    started: Time,
    /// Steps begun.
    steps: u32,
    /// Calls of the step under way that have no outcome yet.
    pending: u32,
    failed: bool,
    /// What its answers have cost so far.
    spent: Tokens,
}

/// The tasks of a group. Task k has the places from k · calls on, step by step.
pub(super) struct Tasks {
    rule: Agents,
    tasks: Vec<Task>,
    /// The next task that nobody has begun.
    next: u32,
}

impl Tasks {
    pub(super) fn new(rule: Agents, tasks: u32) -> Tasks {
        Tasks { rule, tasks: vec![Task::default(); tasks as usize], next: 0 }
    }

    /// A call of the task at `place` has its answer.
    pub(super) fn on_answer(&mut self, place: u32, tokens: Tokens) {
        self.tasks[(place / self.rule.calls()) as usize].spent += tokens;
    }
}

impl<O: Observer, P: Pending, const BITS: u32, const PLAIN: bool>
    Simulation<'_, O, P, BITS, PLAIN>
{
    /// A client of group `g` begins the next task, if there is one.
    pub(super) fn begin_task(&mut self, g: usize, client: u32) {
        let now = self.events.now();
        let Some(tasks) = &mut self.groups[g].tasks else { return };
        let number = tasks.next;
        let Some(task) = tasks.tasks.get_mut(number as usize) else { return };
        task.started = now;
        tasks.next += 1;
        self.begin_step(g, number, client, now);
    }

    /// The calls of the next step of a task are made at `at`.
    fn begin_step(&mut self, g: usize, number: u32, client: u32, at: Time) {
        let group = &mut self.groups[g];
        let Some(tasks) = &mut group.tasks else { return };
        let Agents { fan_out, .. } = tasks.rule;
        let task = &mut tasks.tasks[number as usize];
        let first = number * tasks.rule.calls() + task.steps * fan_out;
        task.steps += 1;
        task.pending = fan_out;
        for place in first..first + fan_out {
            self.groups[g].requests.worker[place as usize] = client;
            self.schedule(at, Class::Attempt, Self::join(g, place), 0);
        }
    }

    /// A call of a task has its outcome: the task goes on, or is over.
    pub(super) fn on_call_resolved(&mut self, g: usize, place: u32, outcome: Outcome) {
        let now = self.events.now();
        let client = self.groups[g].client(place);
        let Some(tasks) = &mut self.groups[g].tasks else { return };
        let rule = tasks.rule;
        let number = place / rule.calls();
        let task = &mut tasks.tasks[number as usize];
        task.pending -= 1;
        task.failed |= outcome != Outcome::Succeeded;
        if task.pending > 0 {
            return;
        }
        if !task.failed && task.steps < rule.steps {
            let at = now.saturating_add(rule.think.nanos());
            return self.begin_step(g, number, client, at);
        }
        let over = *task;
        self.observer.task_over(now, g, over.started, !over.failed, over.spent);
        self.begin_task(g, client);
    }
}
