# SPDX-License-Identifier: Apache-2.0
"""report.html in a browser: its figures are run.json's, cells can be chosen, nothing of a name is code.
html_report_test.py ICEPATH SMALL_RUN"""
import html
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
import chromium  # noqa: E402

ICEPATH, SMALL_RUN = sys.argv[1:3]
MOST_BYTES = 600_000  # of a page


def without_scripts(page):
    return re.sub(r"<script.*?</script>", "", page, flags=re.S)


def row_of(page, cell):
    return re.search(rf'<g class="row[^"]*" data-cell="{cell}">.*?(?=<g class="row|</svg>)', page, flags=re.S).group(0)


def kind_widths(page, cell, panel):
    """Of the bar on that side: class → pixels."""
    widths = {}
    for kind, width in re.findall(
        rf'<rect class="(kind-\d)[^"]*" data-panel="{panel}" [^>]*width="([\d.]+)"', row_of(page, cell)
    ):
        widths[kind] = widths.get(kind, 0) + float(width)
    return widths


def title_of(cell):
    return f"{cell['target']} {cell['payload_bytes']} B {cell['pattern']} {cell['wait']}"


class HtmlReport(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        run = os.path.join(cls.temporary.name, "run")
        subprocess.run([SMALL_RUN, run, "12"], check=True)
        cls.path = subprocess.run(
            [ICEPATH, "report", "--html", run], check=True, capture_output=True, text=True
        ).stdout.strip()
        with open(cls.path, encoding="utf-8") as file:
            cls.page = file.read()
        cls.json = json.loads(
            subprocess.run([ICEPATH, "report", "--json", run], check=True, capture_output=True, text=True).stdout
        )

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def shown(self, address="", action=None):
        document, said = chromium.show(self.path, address, action)
        self.assertEqual(said, [], "on the console")
        return document

    def done(self, action):
        """What `action`, an expression, gives in the page."""
        document = self.shown(action=f"document.body.dataset.done = JSON.stringify({action});")
        return json.loads(html.unescape(re.search(r'data-done="([^"]*)"', document).group(1)))

    def test_it_needs_nothing_else(self):
        self.assertEqual(os.path.basename(self.path), "report.html")
        for address in re.findall(r'(?:src|href|url)\s*[=(]\s*["\']?([^"\'\s>)]*)', without_scripts(self.page)):
            self.assertTrue(address.startswith(("data:", "#")), address)
        self.assertLess(len(self.page.encode()), MOST_BYTES)

    def test_the_first_picture_has_run_jsons_layers(self):
        page = without_scripts(self.page)
        pixels_per_ns = {0: set(), 1: set()}
        for at, cell in enumerate(self.json["cells"]):
            for panel, key in enumerate(("typical_layers", "tail_layers")):
                rows = cell[key]
                if not rows:
                    continue
                widths = kind_widths(page, at, panel)
                all_ns = sum(row["mean_ns"] for row in rows)
                pixels_per_ns[panel].add(round(sum(widths.values()) / all_ns, 4))
                own = sum(row["mean_ns"] for row in rows if row["layer"] in ("sender.user", "receiver.user"))
                kernel = sum(row["mean_ns"] for row in rows if row["layer"] in ("sender.kernel", "receiver.kernel"))
                self.assertAlmostEqual(widths["kind-0"] / sum(widths.values()), own / all_ns, delta=0.002)
                self.assertAlmostEqual(widths["kind-3"] / sum(widths.values()), kernel / all_ns, delta=0.002)
        self.assertEqual(
            [len(scales) for scales in pixels_per_ns.values()],
            [1, 1],
            "one axis for all typical messages, one for slow ones",
        )

    def test_the_table_has_run_jsons_figures(self):
        rows = re.findall(r'<tr data-cell="(\d+)".*?</tr>', self.page, flags=re.S)
        self.assertEqual(sorted(map(int, rows)), list(range(len(self.json["cells"]))))
        for at, cell in enumerate(self.json["cells"]):
            row = re.search(rf'<tr data-cell="{at}".*?</tr>', self.page, flags=re.S).group(0)
            columns = [html.unescape(text) for text in re.findall(r"<td>(.*?)</td>", row)]
            self.assertEqual(columns[2].split(" ")[0], f"{cell['latency_ns']['p50'] / 1e3:.2f}")
            self.assertEqual(columns[7].replace(" ", ""), str(cell["latency_ns"]["count"]))
            self.assertEqual(columns[8], str(cell["messages"]["lost"]))

    def test_all_sections_are_there(self):
        document = self.shown()
        for section in ("picture", "curves", "over-time", "cells", "tails", "slowest", "flame", "notes"):
            self.assertIn(f'<section id="{section}">', document)
        frames = dict(re.findall(r'data-place="(\d+)" data-ns="([^"]*)"', document))
        for at, cell in enumerate(self.json["cells"]):
            mean = sum(row["mean_ns"] for row in cell["layers"])
            self.assertAlmostEqual(float(frames[str(at)]), mean, delta=0.1)

    def test_curves_are_run_jsons_percentiles(self):
        document = self.shown()
        drawn = {}
        for cell, curve in re.findall(
            r'<g class="curve[^"]*" data-cell="(\d+)"(.*?)(?=<g class="curve|</svg>)', document, flags=re.S
        ):
            drawn[int(cell)] = [int(ns) for ns in re.findall(r'class="point" data-ns="(\d+)"', curve)]
        group = [int(row) for row in re.findall(r'<tr data-cell="(\d+)"', self.page.split('<tr class="group">')[1])]
        self.assertEqual(sorted(drawn), sorted(group))
        for cell, values in drawn.items():
            latency = self.json["cells"][cell]["latency_ns"]
            expected = [
                latency[name]
                for name in ("p50", "p90", "p99", "p99_9", "p99_99", "p99_999")
                if latency.get(name) is not None
            ]
            self.assertEqual(values, expected)
            self.assertGreater(len(values), 1)

    def test_strips_have_every_message_of_the_cells(self):
        document = self.shown()
        strips = re.findall(
            r'<g class="strip[^"]*" data-cell="(\d+)"(.*?)(?=<g class="strip|<g class="axis")', document, flags=re.S
        )
        self.assertGreater(len(strips), 0)
        for cell, strip in strips:
            its = self.json["cells"][int(cell)]
            columns = [
                (float(begin), int(messages))
                for begin, messages in re.findall(r'class="column" data-begin="([^"]*)" data-messages="(\d+)"', strip)
            ]
            self.assertEqual(sum(messages for _, messages in columns), its["latency_ns"]["count"])
            self.assertEqual(len(columns), its["blocks"]["unprobed"])
            self.assertEqual([begin for begin, _ in columns], sorted(begin for begin, _ in columns))

    def test_a_range_of_time_is_compared_with_the_rest(self):
        document = self.shown("#time=0-0.5")
        row = re.findall(r"<td>(.*?)</td>", re.search(r'<table id="range">.*?</table>', document, flags=re.S).group(0))
        cell = next(one for one in self.json["cells"] if title_of(one).startswith("uds-stream"))
        for text in row[1:3]:
            self.assertAlmostEqual(
                float(text.split()[0]), cell["latency_ns"]["p50"] / 1e3, delta=0.07 * cell["latency_ns"]["p50"] / 1e3
            )
        self.assertIn('<rect class="selection"', document)
        self.assertIn('<table id="range" hidden', self.shown())
        self.assertEqual(
            self.done(
                """(() => {
            const heat = document.getElementById("heat"), seen = [];
            const press = (key, shiftKey) => {
                heat.dispatchEvent(new KeyboardEvent("keydown", { key, shiftKey, bubbles: true }));
                seen.push(location.hash);
            };
            press("ArrowRight", false); press("ArrowRight", true); press("ArrowLeft", false); press("Escape", false);
            const lengths = seen.map((hash) => (hash.match(/[\\d.]+/g) || []).map(Number))
                .map(([from, to]) => (to ? to - from : 0));
            return [lengths[1] > 1.9 * lengths[0],
                Math.abs(lengths[2] - lengths[1]) < 0.01 || seen[2] === seen[1], seen[3]];
        })()"""
            ),
            [True, True, ""],
        )

    def test_the_slowest_messages_are_there_piece_by_piece(self):
        for cell, of in enumerate(self.json["cells"]):
            document = self.shown(f"#cell={cell}")
            messages = re.findall(
                r'<g class="message" data-ns="(\d+)">(.*?)(?=<g class="message"|</svg>)', document, flags=re.S
            )
            self.assertEqual(len(messages), 5)
            latencies = [int(ns) for ns, _ in messages]
            self.assertEqual(latencies, sorted(latencies, reverse=True))
            self.assertEqual(latencies[0], of["worst"]["latency_ns"])
            for ns, message in messages:
                self.assertEqual(
                    sum(int(step) for step in re.findall(r'data-step="(\d+)"', message)), int(ns), "= recv - send"
                )
            worst = of["worst"]
            self.assertIn(
                f'--message {worst["round"]}:{worst["seq"]}{":back" if worst["direction"] == "back" else ""}',
                messages[0][1],
            )

    def test_narrow_dark_and_printed(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, options in (("narrow", {"size": (400, 800)}), ("dark", {"dark": True})):
                picture = os.path.join(folder, f"{name}.png")
                _, said = chromium.show(self.path, screenshot=picture, **options)
                self.assertEqual(said, [])
                self.assertGreater(os.path.getsize(picture), 10_000)

    def test_a_link_shows_the_same(self):
        document = self.shown("#cell=1&kind=3&search=wakeup&messages=all")
        self.assertRegex(document, r'<tr data-cell="1" tabindex="0" class="chosen">')
        self.assertNotIn('data-place="0"', document)
        self.assertRegex(document, r'class="kind-0 faded"')
        self.assertNotRegex(document, r'class="kind-3 faded"')
        cell = self.json["cells"][1]
        layers = cell["layers"]
        wakeup, mean = (
            sum(row["mean_ns"] for row in layers if row["layer"].startswith(name)) for name in ("wakeup", "")
        )
        self.assertIn(f"{wakeup / 1e3:.2f} µs, {100 * wakeup / mean:.1f} %", document)

    def test_typical_and_slow_messages_have_flame_graphs_too(self):
        for which in ("typical", "tail"):
            document = self.shown(f"#messages={which}")
            frames = re.findall(r'data-place="(\d+)" data-ns="([^"]*)"', document)
            layers = [cell[f"{which}_layers"] for cell in self.json["cells"] if cell[f"{which}_layers"]]
            self.assertEqual(len(frames), len(layers))
            for (_, ns), rows in zip(frames, layers):
                self.assertAlmostEqual(float(ns), sum(row["mean_ns"] for row in rows), delta=0.1)

    def test_mouse_and_keys(self):
        self.assertEqual(
            self.done(
                """(() => {
            const seen = [];
            const press = (key) => document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
            const chosen = () => [location.hash,
                [...document.querySelectorAll("tbody .chosen")].map((row) => row.dataset.cell).join()];
            document.querySelector("tbody [data-cell='1']").click(); seen.push(...chosen());
            press("Escape"); seen.push(...chosen());
            document.querySelector(".picture [data-cell='0']")
                .dispatchEvent(new MouseEvent("click", { bubbles: true }));
            seen.push(...chosen());
            return seen;
        })()"""
            ),
            ["#cell=1&zoom=1", "1", "", "", "#cell=0&zoom=0", "0"],
        )
        first, second = self.done(
            """(() => {
            const press = (key) => document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
            const chosen = () => document.querySelector("tbody .chosen").dataset.cell;
            press("j"); const first = chosen(); press("j"); return [first, chosen()];
        })()"""
        )
        rows = re.findall(r'<tr data-cell="(\d+)"', self.page)
        self.assertEqual([first, second], rows[:2])

    def test_hostile_names_do_nothing(self):
        hostile = os.path.join(self.temporary.name, "hostile")
        subprocess.run([SMALL_RUN, hostile, "hostile"], check=True)
        path = subprocess.run(
            [ICEPATH, "report", "--html", hostile], check=True, capture_output=True, text=True
        ).stdout.strip()
        with open(path, encoding="utf-8") as file:
            page = file.read()
        self.assertEqual(page.count("<script"), 2)
        document, said = chromium.show(path, "#cell=0&search=%3Cscript%3E")
        self.assertEqual(said, [])
        self.assertEqual(document.count("<script"), 2)
        self.assertIn("&lt;script&gt;&amp;", document)


if __name__ == "__main__":
    chromium.skip_without()
    unittest.main(argv=sys.argv[:1])
