# SPDX-License-Identifier: Apache-2.0
"""latency.svg: its widths are run.json's layers, and it zooms and searches in a browser. flame_svg_test.py ICEPATH
SMALL_RUN
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

sys.dont_write_bytecode = True
import chromium  # noqa: E402

ICEPATH, SMALL_RUN = sys.argv[1:3]
SVG = "{http://www.w3.org/2000/svg}"
WIDTH = 1180  # pixels of all cells together
PIXEL = 0.02  # rects are rounded to hundredths


def title_of(cell):
    return f"{cell['target']} {cell['payload_bytes']} B {cell['pattern']} {cell['wait']}"


def layer_means(cell, key):
    means = {}
    for row in cell[key]:
        means[row["layer"]] = means.get(row["layer"], 0) + row["mean_ns"]
    return means


def frames_of(svg):
    """Of the picture that the program drew: way from the cell → (x, width)."""
    frames = {}
    for group in ElementTree.fromstring(svg).find(f"{SVG}g[@id='frames']").findall(f"{SVG}g"):
        way = tuple(group.find(f"{SVG}title").text.rsplit(": ", 1)[0].split(" → "))
        rect = group.find(f"{SVG}rect")
        frames[way] = (float(rect.get("x")), float(rect.get("width")))
    return frames


def data_of(svg):
    return json.loads(
        next(
            script for script in ElementTree.fromstring(svg).findall(f"{SVG}script") if script.get("id") == "flame"
        ).text
    )


def sum_of(frame, key="ns"):
    return sum(sum_of(child, key) for child in frame["children"]) if "children" in frame else frame[key]


def drawn(document):
    """Of the picture that the script drew: place → (ns, width)."""
    return {
        place: (float(ns), float(width))
        for place, ns, width in re.findall(
            r'data-place="([^"]*)" data-ns="([^"]*)"[^>]*><title>[^<]*</title><rect height="\d+" width="([^"]*)"',
            document,
        )
    }


class FlameSvg(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.run_folder, cls.other = (os.path.join(cls.temporary.name, name) for name in ("run", "other"))
        subprocess.run([SMALL_RUN, cls.run_folder, "12"], check=True)
        subprocess.run([SMALL_RUN, cls.other, "8"], check=True)
        cls.cells = cls.report(cls.run_folder)["cells"]

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    @staticmethod
    def report(run):
        return json.loads(
            subprocess.run([ICEPATH, "report", "--json", run], check=True, capture_output=True, text=True).stdout
        )

    def picture(self, *options):
        folder = os.path.join(self.temporary.name, self.id())
        path = subprocess.run(
            [ICEPATH, "flamegraph", "-o", folder, *options, self.run_folder], check=True, capture_output=True, text=True
        ).stdout.strip()
        with open(path, encoding="utf-8") as file:
            return path, file.read()

    def check_layers(self, svg, key):
        data, frames = data_of(svg), frames_of(svg)
        all_ns = sum(sum_of(cell) for cell in data["cells"])
        for cell in data["cells"]:
            expected = layer_means(next(one for one in self.cells if title_of(one) == cell["name"]), key)
            self.assertEqual({layer["name"] for layer in cell["children"]}, set(expected))
            for layer in cell["children"]:
                self.assertAlmostEqual(sum_of(layer), expected[layer["name"]], delta=0.01)
                self.assertAlmostEqual(
                    frames[cell["name"], layer["name"]][1], expected[layer["name"]] / all_ns * WIDTH, delta=PIXEL
                )
        return len(data["cells"])

    def test_layers_are_as_wide_as_in_run_json(self):
        self.assertEqual(self.check_layers(self.picture()[1], "layers"), 2)

    def test_the_tails_layers_are_run_jsons(self):
        with_tail = [cell for cell in self.cells if cell["tail_layers"]]
        self.assertEqual(self.check_layers(self.picture("--tail")[1], "tail_layers"), len(with_tail))

    def test_children_tile_their_frame(self):
        frames = frames_of(self.picture()[1])
        parents = 0
        for way, (x, width) in frames.items():
            children = [frames[other] for other in frames if other[:-1] == way]
            if children:
                parents += 1
                self.assertAlmostEqual(sum(child[1] for child in children), width, delta=PIXEL * (len(children) + 1))
                self.assertAlmostEqual(min(child[0] for child in children), x, delta=PIXEL)
        self.assertGreater(parents, 10)

    def test_a_cell_alone(self):
        data = data_of(self.picture("--cell", "oneway")[1])
        self.assertEqual([cell["name"] for cell in data["cells"]], ["uds-stream 64 B oneway block"])

    def test_a_difference_is_that_of_both_runs(self):
        other_cells = {title_of(cell): layer_means(cell, "layers") for cell in self.report(self.other)["cells"]}
        data = data_of(self.picture("--diff", self.other)[1])
        self.assertEqual(len(data["cells"]), 2)
        for cell in data["cells"]:
            now = layer_means(next(one for one in self.cells if title_of(one) == cell["name"]), "layers")
            for layer in cell["children"]:
                self.assertAlmostEqual(sum_of(layer), now[layer["name"]], delta=0.01)
                self.assertAlmostEqual(sum_of(layer, "other_ns"), other_cells[cell["name"]][layer["name"]], delta=0.01)

    def test_the_browser_draws_the_same(self):
        path, svg = self.picture()
        document, said = chromium.show(path)
        self.assertEqual(said, [])
        cells = data_of(svg)["cells"]
        all_ns = sum(sum_of(cell) for cell in cells)
        frames = drawn(document)
        self.assertEqual(len(frames), len(frames_of(svg)))
        for at, cell in enumerate(cells):
            for number, frame in enumerate(cell["children"]):
                ns, width = frames[f"{at}.{number}"]
                self.assertAlmostEqual(ns, sum_of(frame), delta=0.01)
                self.assertAlmostEqual(width, ns / all_ns * WIDTH - 0.5, delta=PIXEL)

    def test_a_link_has_zoom_and_search(self):
        path, svg = self.picture()
        document, said = chromium.show(path, "#zoom=1&search=WAKEUP")
        self.assertEqual(said, [])
        cell = data_of(svg)["cells"][1]
        frames = drawn(document)
        self.assertNotIn("0", frames)
        self.assertAlmostEqual(frames["1"][1], WIDTH - 0.5, delta=PIXEL)
        wakeup = sum_of(next(layer for layer in cell["children"] if layer["name"] == "wakeup"))
        self.assertIn(f"{wakeup / 1e3:.2f} µs, {100 * wakeup / sum_of(cell):.1f} %", document)
        self.assertEqual(len(re.findall(r'class="[^"]*\bfound\b', document)), 1)

    def test_a_search_is_over_all_cells(self):
        path, svg = self.picture()
        document, said = chromium.show(path, "#search=eceiver.KERNEL")
        self.assertEqual(said, [])
        cells = data_of(svg)["cells"]
        found = sum(sum_of(layer) for cell in cells for layer in cell["children"] if layer["name"] == "receiver.kernel")
        self.assertIn(f"{found / 1e3:.2f} µs, {100 * found / sum(map(sum_of, cells)):.1f} %", document)

    def test_click_and_keys(self):
        path, _ = self.picture()
        document, said = chromium.show(
            path,
            action="""
            const frame = (place) => document.querySelector(`[data-place="${place}"]`);
            const press = (key) => document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
            const seen = [];
            frame("0.1").dispatchEvent(new MouseEvent("click", { bubbles: true }));
            seen.push(location.hash);
            press("Escape");
            seen.push(location.hash);
            for (const key of ["ArrowDown", "ArrowDown", "ArrowRight"]) press(key);
            seen.push(document.querySelector("#details").textContent);
            press("Enter");
            seen.push(location.hash);
            document.documentElement.setAttribute("data-seen", JSON.stringify(seen));""",
        )
        self.assertEqual(said, [])
        seen = json.loads(re.search(r'data-seen="([^"]*)"', document).group(1).replace("&quot;", '"'))
        self.assertEqual([seen[0], seen[1], seen[3]], ["#zoom=0.1", "", "#zoom=0.1"])
        self.assertIn("→ sender.kernel: ", seen[2])

    def test_hostile_names_do_nothing(self):
        hostile = os.path.join(self.temporary.name, "hostile")
        subprocess.run([SMALL_RUN, hostile, "hostile"], check=True)
        path = subprocess.run(
            [ICEPATH, "flamegraph", hostile], check=True, capture_output=True, text=True
        ).stdout.strip()
        with open(path, encoding="utf-8") as file:
            names = [cell["name"] for cell in data_of(file.read())["cells"]]
        document, said = chromium.show(path)
        self.assertEqual(said, [])
        self.assertTrue(names[0].startswith("<script>"))
        self.assertEqual(document.count("<script"), 2)
        self.assertIn("&lt;script&gt;&amp;", document)


if __name__ == "__main__":
    chromium.skip_without()
    unittest.main(argv=sys.argv[:1])
