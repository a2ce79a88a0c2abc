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
BARS = 700  # pixels of the axis of the first picture


def without_scripts(page):
    return re.sub(r"<script.*?</script>", "", page, flags=re.S)


def kind_widths(page, cell, height):
    """Of the bar of that height: class → pixels."""
    row = re.search(rf'<g class="row[^"]*" data-cell="{cell}">.*?(?=<g class="row|</svg>)', page, flags=re.S).group(0)
    widths = {}
    for kind, width in re.findall(rf'<rect class="(kind-\d)[^"]*" [^>]*width="([\d.]+)" height="{height}"', row):
        widths[kind] = widths.get(kind, 0) + float(width)
    return widths


class HtmlReport(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        run = os.path.join(cls.temporary.name, "run")
        subprocess.run([SMALL_RUN, run, "12"], check=True)
        cls.path = subprocess.run([ICEPATH, "report", "--html", run], check=True, capture_output=True, text=True).stdout.strip()
        with open(cls.path, encoding="utf-8") as file:
            cls.page = file.read()
        cls.json = json.loads(subprocess.run([ICEPATH, "report", "--json", run], check=True, capture_output=True, text=True).stdout)

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
            self.assertTrue(address.startswith("data:"), address)
        self.assertLess(len(self.page.encode()), 200_000)

    def test_the_first_picture_has_run_jsons_layers(self):
        page = without_scripts(self.page)
        pixels_per_ns = set()
        for at, cell in enumerate(self.json["cells"]):
            for key, height in (("typical_layers", 14), ("tail_layers", 7)):
                rows = [row for row in cell[key] if row["part_of"] is None]
                if not rows:
                    continue
                widths = kind_widths(page, at, height)
                all_ns = sum(row["mean_ns"] for row in rows)
                pixels_per_ns.add(round(sum(widths.values()) / all_ns, 4))
                own = sum(row["mean_ns"] for row in rows if row["layer"] in ("sender.user", "receiver.user"))
                kernel = sum(row["mean_ns"] for row in rows if row["layer"] in ("sender.kernel", "receiver.kernel"))
                self.assertAlmostEqual(widths["kind-0"] / sum(widths.values()), own / all_ns, delta=0.002)
                self.assertAlmostEqual(widths["kind-3"] / sum(widths.values()), kernel / all_ns, delta=0.002)
        self.assertEqual(len(pixels_per_ns), 1, "one axis")

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
        for section in ("picture", "curves", "cells", "tails", "flame", "notes"):
            self.assertIn(f'<section id="{section}">', document)
        frames = dict(re.findall(r'data-place="(\d+)" data-ns="([^"]*)"', document))
        for at, cell in enumerate(self.json["cells"]):
            mean = sum(row["mean_ns"] for row in cell["layers"] if row["part_of"] is None)
            self.assertAlmostEqual(float(frames[str(at)]), mean, delta=0.1)

    def test_curves_are_run_jsons_percentiles(self):
        document = self.shown()
        drawn = {}
        for cell, curve in re.findall(r'<g class="curve[^"]*" data-cell="(\d+)"(.*?)(?=<g class="curve|</svg>)', document, flags=re.S):
            drawn[int(cell)] = [int(ns) for ns in re.findall(r'class="point" data-ns="(\d+)"', curve)]
        group = [int(row) for row in re.findall(r'<tr data-cell="(\d+)"', self.page.split('<tr class="group">')[1])]
        self.assertEqual(sorted(drawn), sorted(group))
        for cell, values in drawn.items():
            latency = self.json["cells"][cell]["latency_ns"]
            expected = [latency[name] for name in ("p50", "p90", "p99", "p99_9", "p99_99", "p99_999") if latency.get(name) is not None]
            self.assertEqual(values, expected)
            self.assertGreater(len(values), 1)

    def test_a_link_shows_the_same(self):
        document = self.shown("#cell=1&kind=3&search=wakeup&messages=all")
        self.assertRegex(document, r'<tr data-cell="1" tabindex="0" class="chosen">')
        self.assertNotIn('data-place="0"', document)
        self.assertRegex(document, r'class="kind-0 faded"')
        self.assertNotRegex(document, r'class="kind-3 faded"')
        cell = self.json["cells"][1]
        layers = [row for row in cell["layers"] if row["part_of"] is None]
        wakeup, mean = (sum(row["mean_ns"] for row in layers if row["layer"].startswith(name)) for name in ("wakeup", ""))
        self.assertIn(f"{wakeup / 1e3:.2f} µs, {100 * wakeup / mean:.1f} %", document)

    def test_typical_and_slow_messages_have_flame_graphs_too(self):
        for which in ("typical", "tail"):
            document = self.shown(f"#messages={which}")
            frames = re.findall(r'data-place="(\d+)" data-ns="([^"]*)"', document)
            layers = [cell[f"{which}_layers"] for cell in self.json["cells"] if cell[f"{which}_layers"]]
            self.assertEqual(len(frames), len(layers))
            for (_, ns), rows in zip(frames, layers):
                self.assertAlmostEqual(float(ns), sum(row["mean_ns"] for row in rows if row["part_of"] is None), delta=0.1)

    def test_mouse_and_keys(self):
        self.assertEqual(self.done('''(() => {
            const seen = [], press = (key) => document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
            const chosen = () => [location.hash, [...document.querySelectorAll("tbody .chosen")].map((row) => row.dataset.cell).join()];
            document.querySelector("tbody [data-cell='1']").click(); seen.push(...chosen());
            press("Escape"); seen.push(...chosen());
            document.querySelector(".picture [data-cell='0']").dispatchEvent(new MouseEvent("click", { bubbles: true }));
            seen.push(...chosen());
            return seen;
        })()'''), ["#cell=1&zoom=1", "1", "", "", "#cell=0&zoom=0", "0"])
        first, second = self.done('''(() => {
            const press = (key) => document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
            const chosen = () => document.querySelector("tbody .chosen").dataset.cell;
            press("j"); const first = chosen(); press("j"); return [first, chosen()];
        })()''')
        rows = re.findall(r'<tr data-cell="(\d+)"', self.page)
        self.assertEqual([first, second], rows[:2])

    def test_hostile_names_do_nothing(self):
        hostile = os.path.join(self.temporary.name, "hostile")
        subprocess.run([SMALL_RUN, hostile, "hostile"], check=True)
        path = subprocess.run([ICEPATH, "report", "--html", hostile], check=True, capture_output=True, text=True).stdout.strip()
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
