
"use strict";
// The load of all policies in one chart: zoom by drag, buttons and keys; a button per policy.
(() => {
  const NS = "http://www.w3.org/2000/svg";
  const HEIGHT = 340, TOP = 14, BOTTOM = 40, LEFT = 52, RIGHT = 12;
  const LEAST_WINDOWS = 10;
  // A load this many times the capacity would press the capacity onto a linear axis.
  const LINEAR_REACH = 20;

  const make = (name, attributes, parent) => {
    const element = document.createElementNS(NS, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (parent) parent.append(element);
    return element;
  };
  const html = (name, properties, parent) => {
    const element = Object.assign(document.createElement(name), properties);
    if (parent) parent.append(element);
    return element;
  };
  const shown = (value) => {
    const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
    return value.toLocaleString("en-US", { maximumFractionDigits: digits });
  };
  const seconds = (value) => value.toLocaleString("en-US", { maximumFractionDigits: 3 });
  // 1, 2 or 5 times a power of ten.
  const step = (span, count) => {
    const least = span / count, power = 10 ** Math.floor(Math.log10(least));
    return [1, 2, 5, 10].map((n) => n * power).find((n) => n >= least * 0.999);
  };

  function chart(place) {
    const data = JSON.parse(place.querySelector("script").textContent);
    const w = data.window_s;
    const windows = Math.max(1, ...data.policies.map((p) => p.windows.length));
    // What all policies have sent nearly all of their attempts by.
    const nearly = (p) => {
      const total = p.windows.reduce((sum, row) => sum + row[0], 0);
      let sum = 0;
      const at = p.windows.findIndex((row) => (sum += row[0]) >= 0.99 * total);
      return at < 0 ? p.windows.length : at + 1;
    };
    const highest = Math.max(0, ...data.policies.flatMap((p) => p.windows.map((row) => row[0])));
    const until = Math.max(0, ...data.outages_s.map(([, to]) => (1.2 * to) / w));
    const home = [0, Math.min(windows, Math.max(LEAST_WINDOWS, until, ...data.policies.map(nearly)))];
    const state = { from: 0, to: Math.ceil(home[1]), log: data.capacity !== null && highest > LINEAR_REACH * data.capacity, hidden: new Set(), drag: null, cursor: null };
    home[1] = state.to;
    const least = Math.min(LEAST_WINDOWS, windows);

    place.hidden = false;
    const figure = html("figure", {}, place);
    figure.style.margin = "0";
    html("figcaption", { textContent: "Attempts that arrive at the provider, all policies in one" }, figure);
    const policies = html("div", { className: "row" }, figure);
    policies.setAttribute("role", "group");
    policies.setAttribute("aria-label", "Policies shown");
    for (const policy of data.policies) {
      const button = html("button", { type: "button", className: "policy", textContent: policy.name }, policies);
      button.style.setProperty("--hue", `var(--series-${policy.hue})`);
      button.setAttribute("aria-pressed", "true");
      button.addEventListener("click", () => {
        const hide = !state.hidden.has(policy.name);
        state.hidden[hide ? "add" : "delete"](policy.name);
        button.setAttribute("aria-pressed", String(!hide));
        draw();
      });
    }
    const svg = make("svg", { role: "img", tabindex: "0" }, figure);
    const output = html("output", {}, figure);
    const tools = html("div", { className: "row" }, figure);
    tools.setAttribute("role", "group");
    tools.setAttribute("aria-label", "Zoom");
    const tool = (text, label, act) => {
      const button = html("button", { type: "button", textContent: text }, tools);
      if (label) button.setAttribute("aria-label", label);
      button.addEventListener("click", () => { act(); draw(); });
      return button;
    };
    const span = () => state.to - state.from;
    const show = (from, to) => {
      const size = Math.min(windows, Math.max(least, Math.round(to - from)));
      state.from = Math.min(windows - size, Math.max(0, Math.round(from)));
      state.to = state.from + size;
    };
    const zoom = (factor) => {
      const middle = (state.from + state.to) / 2, half = (span() * factor) / 2;
      show(middle - half, middle + half);
    };
    const move = (share) => show(state.from + share * span(), state.to + share * span());
    const whole = () => show(...home);
    const closer = tool("Zoom in", "", () => zoom(0.5));
    const wider = tool("Zoom out", "", () => zoom(2));
    const back = tool("←", "Earlier", () => move(-0.5));
    const on = tool("→", "Later", () => move(0.5));
    tool("Reset", "", whole);
    const log = tool("Log scale", "", () => {
      state.log = !state.log;
      log.setAttribute("aria-pressed", String(state.log));
    });
    log.setAttribute("aria-pressed", String(state.log));
    html("p", {
      className: "note",
      textContent: "Drag over the chart to zoom in; with the chart focused, + and − zoom, arrows move, 0 resets. " +
        "Lines: means; bands: 5 to 95 % of seeds." + (data.capacity ? " Dashes: what the provider can serve." : "") +
        (data.outages_s.length ? " Shaded: outage." : ""),
    }, figure);

    const inner = () => svg.clientWidth - LEFT - RIGHT;
    const x = (at) => LEFT + ((at - state.from) / span()) * inner();
    const at = (clientX) => {
      const left = clientX - svg.getBoundingClientRect().left;
      return state.from + (Math.min(1, Math.max(0, (left - LEFT) / inner()))) * span();
    };

    // Columns of a pixel or more; of several windows in one, the fullest counts.
    function columns(policy) {
      const per = Math.max(1, Math.ceil(span() / Math.max(60, inner())));
      const found = [];
      for (let i = state.from; i < Math.min(state.to, policy.windows.length); i += per) {
        const rows = policy.windows.slice(i, Math.min(i + per, state.to));
        const most = (k) => Math.max(...rows.map((row) => row[k]));
        found.push({ from: i, to: Math.min(i + per, state.to), mean: most(0), low: most(1), high: most(2) });
      }
      return { per, found };
    }

    function draw() {
      svg.replaceChildren();
      const width = svg.clientWidth, bottom = HEIGHT - BOTTOM;
      svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
      svg.setAttribute("height", HEIGHT);
      const visible = data.policies.filter((policy) => !state.hidden.has(policy.name));
      const curves = visible.map((policy) => [policy, columns(policy)]);
      const largest = Math.max(1, ...curves.flatMap(([, c]) => c.found.map((column) => Math.max(column.mean, column.high))));
      const capacity = data.capacity && data.capacity <= 4 * largest ? data.capacity : null;
      const floor = Math.min(1, capacity || 1) / 2;
      const top = Math.max(largest, capacity || 0) * (state.log ? 1.5 : 1.06);
      const y = (value) => {
        const share = state.log ? Math.log(Math.max(value, floor) / floor) / Math.log(top / floor) : value / top;
        return bottom - share * (bottom - TOP);
      };
      for (const [from, to] of data.outages_s) {
        const left = Math.max(LEFT, x(from / w)), right = Math.min(width - RIGHT, x(to / w));
        if (right > left) make("rect", { class: "outage", x: left, y: TOP, width: right - left, height: bottom - TOP }, svg);
      }
      axes(y, top, floor, width, bottom);
      for (const [policy, { found }] of curves) {
        const hue = `var(--series-${policy.hue})`;
        const line = (pick) => found.map((c) => `L${x(c.from).toFixed(1)} ${y(pick(c)).toFixed(1)}H${x(c.to).toFixed(1)}`).join("");
        const reverse = [...found].reverse().map((c) => `L${x(c.to).toFixed(1)} ${y(c.low).toFixed(1)}H${x(c.from).toFixed(1)}`).join("");
        if (!found.length) continue;
        make("path", { class: "band", d: `M${line((c) => c.high).slice(1)}${reverse}Z` }, svg).style.fill = hue;
        make("path", { class: "mean", "data-policy": policy.name, d: steps(found, y, bottom) }, svg).style.stroke = hue;
      }
      if (capacity) make("line", { class: "capacity", x1: LEFT, x2: width - RIGHT, y1: y(capacity), y2: y(capacity) }, svg);
      overlay(bottom);
      closer.disabled = span() <= least;
      wider.disabled = span() >= windows;
      back.disabled = state.from <= 0;
      on.disabled = state.to >= windows;
      const range = `${seconds(state.from * w)} s to ${seconds(state.to * w)} s`;
      const per = curves.length ? curves[0][1].per : 1;
      svg.setAttribute("aria-label", `Attempts per ${seconds(w)} s from ${range}: ${visible.map((p) => p.name).join(", ") || "no policy"}`);
      svg.dataset.from = state.from;
      svg.dataset.to = state.to;
      output.textContent = readout(visible) || `${range}${per > 1 ? `; each step is the fullest of ${per} windows` : ""}`;
    }

    // The means in pieces that start and end at the axis: a line along it would look like a little load.
    function steps(found, y, bottom) {
      let path = "", open = false;
      const place = (at) => x(at).toFixed(1);
      for (const column of found) {
        if (column.mean > 0 && !open) path += `M${place(column.from)} ${bottom}`;
        if (column.mean > 0) path += `V${y(column.mean).toFixed(1)}H${place(column.to)}`;
        if (column.mean <= 0 && open) path += `V${bottom}`;
        open = column.mean > 0;
      }
      return open ? `${path}V${bottom}` : path;
    }

    function axes(y, top, floor, width, bottom) {
      const label = (text, attributes) => { make("text", attributes, svg).textContent = text; };
      const values = [];
      if (state.log) for (let p = 10 ** Math.ceil(Math.log10(floor)); p <= top; p *= 10) values.push(p);
      else for (let i = 0, size = step(top, 5); i * size <= top; i++) values.push(i * size);
      for (const value of values) {
        make("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y(value), y2: y(value) }, svg);
        label(shown(value), { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" });
      }
      make("line", { class: "axis", x1: LEFT, x2: width - RIGHT, y1: bottom, y2: bottom }, svg);
      const size = step(span() * w, Math.max(3, inner() / 90));
      for (let i = Math.ceil((state.from * w) / size - 1e-9) || 0; i * size <= state.to * w + 1e-9; i++) {
        const place = x((i * size) / w);
        make("line", { class: "axis", x1: place, x2: place, y1: bottom, y2: bottom + 5 }, svg);
        const end = place > width - RIGHT - 14;
        label(seconds(i * size), { x: end ? width - RIGHT : place, y: bottom + 18, "text-anchor": end ? "end" : "middle" });
      }
      label("time (s)", { x: LEFT + inner() / 2, y: HEIGHT - 5, "text-anchor": "middle" });
      label(`attempts per ${w < 1 ? `${seconds(w * 1000)} ms` : `${seconds(w)} s`}${state.log ? ", log" : ""}`,
        { x: 12, y: (TOP + bottom) / 2, "text-anchor": "middle", transform: `rotate(-90 12 ${(TOP + bottom) / 2})` });
    }

    function overlay(bottom) {
      if (state.drag) {
        const [from, to] = [state.drag.from, state.drag.to].sort((a, b) => a - b);
        make("rect", { class: "range", x: x(from), y: TOP, width: x(to) - x(from), height: bottom - TOP }, svg);
      } else if (state.cursor !== null) {
        make("line", { class: "cursor", x1: x(state.cursor), x2: x(state.cursor), y1: TOP, y2: bottom }, svg);
      }
    }

    function readout(visible) {
      if (state.cursor === null || state.drag) return "";
      const index = Math.min(state.to - 1, Math.floor(state.cursor));
      const value = (policy) => `${policy.name} ${shown((policy.windows[index] || [0])[0])}`;
      return `at ${seconds(index * w)} s: ${visible.map(value).join(", ")}`;
    }

    svg.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      svg.setPointerCapture(event.pointerId);
      const place = at(event.clientX);
      state.drag = { from: place, to: place };
    });
    svg.addEventListener("pointermove", (event) => {
      state.cursor = at(event.clientX);
      if (state.drag) state.drag.to = state.cursor;
      draw();
    });
    svg.addEventListener("pointerup", () => {
      const drag = state.drag;
      state.drag = null;
      // A click is no range.
      if (drag && Math.abs(x(drag.to) - x(drag.from)) > 6) {
        const [from, to] = [drag.from, drag.to].sort((a, b) => a - b);
        show(Math.floor(from), Math.ceil(to));
      }
      draw();
    });
    const leave = () => { state.drag = state.cursor = null; draw(); };
    svg.addEventListener("pointercancel", leave);
    svg.addEventListener("pointerleave", () => { if (!state.drag) leave(); });
    svg.addEventListener("dblclick", () => { whole(); draw(); });
    svg.addEventListener("keydown", (event) => {
      const acts = {
        "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), "0": whole, Escape: whole,
        ArrowLeft: () => move(-0.2), ArrowRight: () => move(0.2), ArrowUp: () => zoom(0.5), ArrowDown: () => zoom(2),
      };
      const act = event.ctrlKey || event.metaKey || event.altKey ? null : acts[event.key];
      if (!act) return;
      event.preventDefault();
      act();
      draw();
    });
    new ResizeObserver(draw).observe(figure);
    draw();
  }

  document.querySelectorAll(".explore").forEach(chart);
})();
