"""Opens report pages in headless Chromium: loads, interacts, measures, and asks axe-core.

    check.py [--chromium PATH] [--screenshots DIR] PAGE...

Needs the Python packages playwright and axe-playwright-python, and a Chromium. Every page is opened at three widths,
light and dark, and once without JavaScript and as on paper.
"""

import argparse
import itertools
import pathlib

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

WIDTHS = {360: 740, 768: 1024, 1440: 900}
SCHEMES = ["light", "dark"]
SERIOUS = {"serious", "critical"}

# What stands out of the page to the right, or is cut inside its own box.
OVERFLOWING = """() => {
  const page = document.documentElement.clientWidth;
  const out = [...document.querySelectorAll("body *")].filter((element) => {
    const style = getComputedStyle(element);
    const box = element.getBoundingClientRect();
    if (element.closest("svg, script, style, thead") || box.width === 0 || style.position === "absolute") return false;
    return box.right > page + 1 || (element.scrollWidth > element.clientWidth + 1 && style.display !== "inline");
  });
  const wide = document.documentElement.scrollWidth > page ? ["the page"] : [];
  return wide.concat(out.map((element) => element.outerHTML.slice(0, 120)));
}"""


def open_page(browser, path, problems, **options):
    page = browser.new_context(**options).new_page()
    page.on("console", lambda message: problems.append(f"console {message.type}: {message.text}")
            if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: problems.append(f"error: {error}"))
    # Offline: nothing but the file itself may be asked for.
    page.on("request", lambda request: problems.append(f"request: {request.url}")
            if not request.url.startswith(("file:", "data:")) else None)
    page.goto(path.resolve().as_uri())
    return page


def interact(page, problems):
    """Zoom by drag, buttons and keys; policies on and off."""
    chart = page.locator(".explore svg").first
    lines = page.locator(".explore").first.locator("path.mean")
    span = lambda: int(chart.get_attribute("data-to")) - int(chart.get_attribute("data-from"))
    expect = lambda what, held: held or problems.append(f"interaction: {what}")
    policies = page.locator(".explore").first.locator("button.policy")
    count = policies.count()
    expect("a line per policy", lines.count() == count > 0)
    policies.first.click()
    expect("a policy goes", lines.count() == count - 1)
    expect("its button says so", policies.first.get_attribute("aria-pressed") == "false")
    policies.first.press("Enter")
    expect("a policy comes back by key", lines.count() == count)
    whole = span()
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * 0.4, y)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.6, y, steps=4)
    page.mouse.up()
    dragged = span()
    expect(f"a drag zooms in ({whole} to {dragged})", dragged < whole / 2)
    page.get_by_role("button", name="Zoom out").first.click()
    expect("a button zooms out", span() > dragged)
    page.get_by_role("button", name="Reset").first.click()
    expect("reset", span() == whole)
    chart.press("+")
    expect("a key zooms in", span() < whole)
    before = int(chart.get_attribute("data-from"))
    chart.press("ArrowLeft")
    expect("a key moves", int(chart.get_attribute("data-from")) < before)
    chart.press("0")
    page.get_by_role("button", name="Log scale").first.click()
    expect("log scale", lines.count() == count)
    page.get_by_role("button", name="Log scale").first.click()
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect("a readout", page.locator(".explore output").first.inner_text().startswith("at "))
    page.mouse.move(0, 0)


def examine(browser, path, screenshots):
    problems, checks = [], 0
    for (width, height), scheme in itertools.product(WIDTHS.items(), SCHEMES):
        found = []
        page = open_page(browser, path, found, viewport={"width": width, "height": height}, color_scheme=scheme)
        found += [f"overflow: {element}" for element in page.evaluate(OVERFLOWING)]
        if page.locator(".explore svg").count() == 0:
            found.append("no interactive chart")
        else:
            interact(page, found)
        page.evaluate("document.querySelectorAll('details').forEach((details) => { details.open = true; })")
        found += [f"overflow, unfolded: {element}" for element in page.evaluate(OVERFLOWING)]
        results = Axe().run(page)
        found += [f"axe {violation['impact']}: {violation['id']}: {violation['help']}: {violation['nodes'][0]['html'][:160]}"
                  for violation in results.response["violations"] if violation["impact"] in SERIOUS]
        if screenshots:
            page.evaluate("document.querySelectorAll('details').forEach((details) => { details.open = false; })")
            page.screenshot(path=screenshots / f"{path.stem}-{width}-{scheme}.png", full_page=True)
        problems += [f"{width} px, {scheme}: {problem}" for problem in found]
        checks += 1
        page.context.close()
    found = []
    page = open_page(browser, path, found, viewport={"width": 360, "height": 740}, java_script_enabled=False)
    if page.locator(".explore").first.is_visible() or not page.locator(".figure svg:visible").count():
        found.append("the picture of the load is not there instead of the chart")
    problems += [f"without JavaScript: {problem}" for problem in found]
    page.context.close()
    found = []
    page = open_page(browser, path, found, viewport={"width": 1000, "height": 1400}, color_scheme="dark")
    page.emulate_media(media="print")
    ink, paper = page.evaluate("(({color, backgroundColor}) => [color, backgroundColor])(getComputedStyle(document.body))")
    if (ink, paper) != ("rgb(0, 0, 0)", "rgb(255, 255, 255)"):
        found.append(f"{ink} on {paper}")
    if screenshots:
        page.pdf(path=screenshots / f"{path.stem}.pdf", format="A4", print_background=True)
    problems += [f"on paper: {problem}" for problem in found]
    page.context.close()
    return problems, checks + 2


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    parser.add_argument("--screenshots", type=pathlib.Path)
    parser.add_argument("pages", nargs="+", type=pathlib.Path)
    args = parser.parse_args()
    if args.screenshots:
        args.screenshots.mkdir(parents=True, exist_ok=True)
    failed = 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=args.chromium, args=["--no-sandbox"])
        for path in args.pages:
            problems, checks = examine(browser, path, args.screenshots)
            print(f"{path.name}: opened {checks} ways, {len(problems)} problems", *problems, sep="\n  ")
            failed += len(problems)
        browser.close()
    raise SystemExit(1 if failed else 0)


if __name__ == "__main__":
    main()
