"""What axe-core finds on a page: contrast, names, roles, order."""

from pathlib import Path
from typing import Any

from playwright.sync_api import Page

_AXE = Path(__file__).parents[1] / "contract" / "node" / "node_modules" / "axe-core" / "axe.min.js"
_RUN = """
async (options) => {
  const found = await axe.run(document, options);
  return found.violations.map(({ id, help, nodes }) => ({
    id, help, nodes: nodes.slice(0, 5).map(({ html, failureSummary }) => `${html}\\n    ${failureSummary}`),
  }));
}
"""
_OPTIONS = {
    "runOnly": {
        "type": "tag",
        "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    },
    "resultTypes": ["violations"],
}


def findings(page: Page) -> list[str]:
    """Each with the elements it is about.

    The script comes in by the debugger, which a page's content security policy does not concern: nothing
    of the policy has to be switched off for it.
    """
    assert _AXE.is_file(), "axe-core is not installed: make setup-node"
    if not page.evaluate("() => typeof axe === 'object'"):
        page.evaluate(_AXE.read_text(encoding="utf-8") + "\n;undefined")
    found: list[dict[str, Any]] = page.evaluate(_RUN, _OPTIONS)
    return [f"{one['id']}: {one['help']}\n  " + "\n  ".join(one["nodes"]) for one in found]
