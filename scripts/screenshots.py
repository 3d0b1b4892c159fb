"""Make the pictures of docs/running-a-session.md: small studies by image and by text, the first rated by a simulated
panel, in headless Chromium, in light and dark (Shirahatti and Barnard 2005, figure 2.1).

python scripts/screenshots.py
"""

from __future__ import annotations

import random
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd
import sqlalchemy as sa
from playwright.sync_api import Page, sync_playwright

from relstudy.studyapp.assignment import invitations
from relstudy.studyapp.assignment.synchronisation import prepare
from relstudy.studyapp.collection.displayed_items import item_key
from relstudy.studyapp.config.secret import read_secret
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.database.tables import ratings
from relstudy.studyapp.demo.panel import SimulatedPanel, draw_raters
from relstudy.studyapp.demo.rating import read_page
from relstudy.studyapp.demo.server import serving
from relstudy.studyapp.example_pictures.collection import DemoCollection, make_collection, write_collection
from relstudy.studyapp.web.admin.access import set_password
from relstudy.studyapp.web.app import create_app

OUT = Path(__file__).resolve().parent.parent / "docs" / "assets"
PASSWORD = "only for this picture"
RATERS = 14
TOML = """
[study]
id = "places"
title = "Pictures of places"

[entry]
rules = ["personal"]

[[blocks]]
name = "base"
pairs = "base"

[[blocks]]
name = "unique"
pairs = "unique"
pairs_per_rater = 24
"""
TEXT_TOML = """
[study]
id = "words"
title = "Pictures for words"

[entry]
rules = ["personal"]

[[blocks]]
name = "words"
pairs = "base"
paradigm = "text"
scale = "1-9"
"""


def make_text_study(folder: Path, pictures: int = 60) -> None:
    """The same pictures, asked for in words, rated from 1 to 9: two with a house, whichever comes first."""
    collection = make_collection(pictures)
    write_collection(collection, folder)
    items = pd.read_csv(folder / "collection.csv", dtype=str, keep_default_na=False)
    words = pd.DataFrame([{"item_id": "words", "kind": "text", "text": "A house in the evening", "role": "query"}])
    pd.concat([items, words]).fillna("").to_csv(folder / "collection.csv", index=False)
    houses = items.loc[items["keywords"].str.contains("house|cabin"), "item_id"].iloc[:2]
    pairs = pd.DataFrame({"pair_id": ["w1", "w2"], "query_id": "words", "result_id": list(houses)})
    pairs.assign(paradigm="text", block="base").to_csv(folder / "pairs.csv", index=False)
    (folder / "study.toml").write_text(TEXT_TOML, encoding="utf-8")


def invited(folder: Path) -> str:
    """The path of an invitation to a study that nobody has rated in."""
    prepare(folder)
    store = Store.of_study(folder)
    path = invitations.invite(store, Study.load(folder), 1)[0].path
    store.dispose()
    return path


def make_study(folder: Path) -> DemoCollection:
    """A collection with pairs from two sources, one of which brings mostly good matches."""
    collection = make_collection(60)
    write_collection(collection, folder)
    draw = random.Random(1)
    rows = []
    for number, query in enumerate(collection.query_ids[:40]):
        place = {name: column for column, name in enumerate(collection.picture_ids)}
        others = sorted(
            (name for name in collection.picture_ids if name != query),
            key=lambda name: -_true(collection, number, place[name]),
        )
        near, far = others[:6], draw.sample(others[6:], 6)
        for rank, result in enumerate([*near, *far]):
            rows.append(
                {
                    "pair_id": f"{query}-{result}",
                    "query_id": query,
                    "result_id": result,
                    "source": "keywords" if result in near else "colour",
                    "rank": rank + 1,
                    "block": "base" if number < 4 else "unique",
                }
            )
    pd.DataFrame(rows).to_csv(folder / "pairs.csv", index=False)
    (folder / "study.toml").write_text(TOML, encoding="utf-8")
    return collection


def _true(collection: DemoCollection, row: int, column: int) -> float:
    return float(collection.truth[row, column])


def rate(folder: Path, collection: DemoCollection) -> str:
    """The panel rates; returns the path of one more invitation."""
    prepare(folder)
    set_password(folder, PASSWORD)
    store, study = Store.of_study(folder), Study.load(folder)
    app = create_app(folder, store=store)
    secret = read_secret(folder)
    names = {item_key(secret, name): name for name in collection.items["item_id"]}
    panel = SimulatedPanel(draw_raters(RATERS, seed=2), collection)
    for who, invitation in enumerate(invitations.invite(store, study, RATERS)):
        client = app.test_client()
        answer = client.get(invitation.path, follow_redirects=True)
        for _ in range(99 if who < RATERS - 3 else 6 + who % 3):
            page = read_page(answer.text)
            if answer.request.path == "/thanks":
                break
            fields = page.hidden | page.boxes
            for name, values in page.choices.items():
                scale = [float(value) for value in values if value != "undecided"]
                given = panel.answer(who, names[page.query], names[page.results[name.partition("-")[2]][0]], scale)
                fields[name] = "undecided" if given is None else f"{given:g}"
            answer = client.post(page.action or answer.request.path, data=fields, follow_redirects=True)
    _spread_over_a_morning(store)
    last = invitations.invite(store, study, 1)[0].path
    store.dispose()
    return last


def _spread_over_a_morning(store: Store) -> None:
    draw = random.Random(4)
    with store.write() as connection:
        ids = list(connection.execute(sa.select(ratings.c.id).order_by(ratings.c.id)).scalars())
        moments = sorted(1_772_355_600 + 4 * 3600 * draw.betavariate(1.4, 1.8) for _ in ids)
        for key, moment in zip(ids, moments, strict=True):
            values = {"rated_at": moment, "seconds": draw.lognormvariate(1.4, 0.6)}
            connection.execute(sa.update(ratings).where(ratings.c.id == key).values(values))


def _chromium() -> str | None:
    """The first browser that is installed; of Chromium, the shell without windows starts a page soonest."""
    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    return next((path for name in names if (path := shutil.which(name))), None)


def take_text_page(base: str, invitation: str) -> None:
    """A page by text, one value chosen."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_chromium(), args=["--no-sandbox", "--disable-gpu"])
        rater = browser.new_page(viewport={"width": 1280, "height": 760})
        rater.goto(base + invitation)
        rater.get_by_role("checkbox").check()
        _next(rater)
        _next(rater)
        rater.locator("input[type=radio][value='7']").first.check(force=True)
        _keep(rater, "rating-page-text.jpg")
        browser.close()


def take(base: str, invitation: str) -> None:
    """Open the pages and keep what they look like."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_chromium(), args=["--no-sandbox", "--disable-gpu"])
        rater = browser.new_page(viewport={"width": 1280, "height": 850})
        rater.goto(base + invitation)
        rater.get_by_role("checkbox").check()
        _next(rater)
        _next(rater)
        for key in "21":
            rater.keyboard.press(key)
        _keep(rater, "rating-page.jpg")
        admin = browser.new_page(viewport={"width": 1280, "height": 850})
        admin.goto(f"{base}/admin/login")
        admin.locator("#password").fill(PASSWORD)
        _next(admin)
        _keep(admin, "admin-overview.png", full_page=True)
        browser.close()


def _keep(page: Page, name: str, *, full_page: bool = False) -> None:
    """The page as it looks by day and, as NAME-dark, by night."""
    page.wait_for_load_state("networkidle")
    kept = OUT / name
    kind: dict[str, Any] = {"type": "jpeg", "quality": 86} if kept.suffix == ".jpg" else {}
    page.emulate_media(color_scheme="light")
    page.screenshot(path=kept, full_page=full_page, animations="disabled", **kind)
    page.emulate_media(color_scheme="dark")
    page.screenshot(path=kept.with_stem(f"{kept.stem}-dark"), full_page=full_page, animations="disabled", **kind)


def _next(page: Page) -> None:
    before = page.url
    page.locator("form button.primary").click()
    page.wait_for_url(lambda address: address != before)


def main() -> None:
    """Make the pictures."""
    with tempfile.TemporaryDirectory() as folder:
        words = Path(folder) / "words"
        words.mkdir()
        make_text_study(words)
        by_text = invited(words)
        with serving(words, workers=1) as base:
            take_text_page(base, by_text)
        study = Path(folder) / "places"
        study.mkdir()
        invitation = rate(study, make_study(study))
        with serving(study, workers=1) as base:
            take(base, invitation)


if __name__ == "__main__":
    main()
