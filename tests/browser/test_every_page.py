"""Every page of the console in both looks: nothing is refused, cut off, or found by axe."""

from tests.browser.conftest import Open
from tests.browser.looks import Look, both
from tests.browser.places import PLACES


@both
def test_every_page_is_sound(console: Open, look: Look) -> None:
    screen = console(**look)
    screen.expects(404)
    for place in PLACES.values():
        screen.go(place)
        screen.settle()
        screen.fits()
        screen.accessible()
    screen.check()
