"""The page in a browser, where there is one: by keyboard, on a phone, without an answer."""

from typing import Any

import pytest

PHONE = {"width": 360, "height": 740}
NOTE = "Fieber und heart attacks."
FOCUS = "document.activeElement.id || document.activeElement.className"


@pytest.fixture
def page(window: Any, service):
    page, errors = window.new_page(), []
    page.set_default_timeout(10_000)
    page.on("pageerror", lambda error: errors.append(error))
    page.goto(f"{service.base}/#text={NOTE}&language=de")
    page.wait_for_selector(".mention")
    yield page
    assert not errors
    page.close()


def test_a_mention_is_opened_and_left_by_keyboard(page):
    page.locator(".mention").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#view table")
    assert page.evaluate(FOCUS) == "detail"
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    assert page.evaluate(FOCUS).startswith("mention")
    assert page.evaluate("document.activeElement.getAttribute('aria-current')") == "true"


def test_after_a_change_of_the_note_nothing_is_said_of_a_mention_that_was(page):
    page.locator(".mention").first.click()
    page.wait_for_selector("#view table")
    page.fill("#note", "Husten")
    assert "Choose a mention" in page.inner_text("#view")
    page.fill("#note", "Bluthochdruck")
    page.click(".mention:has-text('Bluthochdruck')")  # the same address as before
    page.wait_for_selector("#view h2:has-text('Bluthochdruck')")


def test_a_linker_without_probabilities_has_no_column_of_them(page):
    page.locator(".mention").first.click()
    page.wait_for_selector("#view table")
    assert "Score" in page.inner_text("#view")
    assert "Probability" not in page.inner_text("#view") + page.inner_text("#list")


def test_a_concept_is_found_and_opened_by_keyboard(page):
    page.focus("#search")
    page.keyboard.type("heart att")
    page.wait_for_selector("#found [role=option]")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_selector("#view dl")
    assert page.evaluate(FOCUS) == "detail"


def test_a_note_without_mentions_says_which_languages_there_are_names_of(page):
    page.fill("#note", "Δεν υπάρχει τίποτα")
    page.wait_for_selector("text=No mention found")
    assert "German" in page.inner_text("#status")
    assert page.is_hidden("#list-title")
    page.fill("#note", " ")
    page.wait_for_selector("#status:empty", state="attached")
    assert page.evaluate("document.getElementById('linked').textContent") == ""


def test_what_does_not_answer_is_said_and_asked_again(page):
    page.context.set_offline(True)
    page.fill("#note", "Bluthochdruck")
    page.wait_for_selector("#status.bad")
    assert "does not answer" in page.inner_text("#status")
    page.fill("#search", "heart")
    page.wait_for_selector("#found:has-text('does not answer')")
    page.locator(".mention").first.click()
    page.wait_for_selector("#view:has-text('does not answer')")
    page.context.set_offline(False)
    page.click(".mention:has-text('Bluthochdruck')")
    page.wait_for_selector("#view h2:has-text('Bluthochdruck')")


def test_nothing_is_wider_than_a_phone(page):
    page.set_viewport_size(PHONE)
    page.locator(".mention").first.click()
    page.wait_for_selector("#view table")
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    wide = "document.querySelector('#view table').getBoundingClientRect().right"
    assert page.evaluate(wide) <= page.evaluate(
        "document.getElementById('detail').getBoundingClientRect().right"
    )
