//! The page in a real browser: it is looked at, not only parsed.
//!
//! Screenshots are kept below the target folder, in `plan-page/`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use windlass_model::Plan;
use windlass_report::plan_html;

use crate::samples;

/// Finds the browser, which `scripts/setup.sh` installs.
fn chromium() -> Command {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let folders = ["/usr/bin", "/usr/local/bin", "/snap/bin"];
    let found = names
        .iter()
        .flat_map(|name| folders.map(|folder| Path::new(folder).join(name)))
        .find(|file| file.is_file());
    Command::new(found.expect("chromium is missing: run `make setup`"))
}

struct Page {
    folder: TempDir,
}

impl Page {
    fn of(plan: &Plan) -> Self {
        let folder = TempDir::new().unwrap();
        std::fs::write(folder.path().join("plan.html"), plan_html(plan, false)).unwrap();
        Self { folder }
    }

    fn browse(&self, arguments: &[&str], fragment: &str) -> String {
        let url = format!("file://{}/plan.html{fragment}", self.folder.path().display());
        // A page that chokes the browser fails the test instead of holding it up for ever.
        let browser = chromium();
        let mut command = Command::new("timeout");
        command.args(["--kill-after=5", "300"]).arg(browser.get_program());
        // The sandbox of the browser cannot be set up by root.
        if rustix::process::geteuid().is_root() {
            command.arg("--no-sandbox");
        }
        let output = command
            .args(["--headless", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"])
            .args([
                "--disable-background-networking",
                "--disable-component-update",
                "--window-size=1280,3400",
            ])
            .arg(format!("--user-data-dir={}", self.folder.path().join("profile").display()))
            .args(arguments)
            .arg(url)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Returns the page as the browser sees it once its script has run.
    fn dom(&self, fragment: &str) -> String {
        self.browse(&["--dump-dom", "--virtual-time-budget=10000"], fragment)
    }

    fn screenshot(&self, name: &str, fragment: &str, arguments: &[&str]) {
        let file = artefacts().join(name);
        let shot = format!("--screenshot={}", file.display());
        self.browse(&[&[shot.as_str(), "--hide-scrollbars"], arguments].concat(), fragment);
        assert!(std::fs::metadata(&file).unwrap().len() > 20_000, "{name} is empty");
    }
}

fn artefacts() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("plan-page");
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn the_page_is_whole_and_its_script_runs_under_its_own_policy() {
    let page = Page::of(&samples::rich());
    let dom = page.dom("");
    assert_eq!(dom.matches("class=\"object op-").count(), 10, "{dom}");
    assert!(!dom.contains("id=\"tools\" hidden"), "the script did not run");
    for text in [
        "Look at this first",
        "DESTROYS DATA",
        "hint",
        "Once nothing refuses it, a human must approve because",
        "spec.size: maximum 5 → 10",
    ] {
        assert!(dom.contains(text), "{text}");
    }
    assert!(!dom.contains("aHVudGVy"), "a Secret value");
}

#[test]
fn objects_are_found_by_name_and_opened_by_link() {
    let page = Page::of(&samples::rich());
    let found = page.dom("#find=nginx%20proxy");
    assert!(found.contains(">1 of 10<"), "{found}");
    let opened = page.dom("#o0");
    assert_eq!(opened.matches("open=\"\"").count(), 1);
}

/// At most this much of the file for one object, and elements of the page.
const BYTES_AN_OBJECT: usize = 2_000;
const ELEMENTS_AN_OBJECT: usize = 20;

#[test]
fn ten_thousand_objects_load() {
    const COUNT: usize = 10_000;
    let plan = samples::many(COUNT);
    let file = plan_html(&plan, false);
    assert!(file.len() < COUNT * BYTES_AN_OBJECT, "{} bytes", file.len());
    // What is folded costs no layout until somebody looks at it.
    assert!(file.contains("content-visibility: auto"));

    let page = Page::of(&plan);
    let dom = page.dom("");
    let elements =
        dom.match_indices('<').filter(|(at, _)| dom[at + 1..].starts_with(|c: char| c.is_ascii_alphabetic()));
    let elements = elements.count();
    assert!(elements < COUNT * ELEMENTS_AN_OBJECT, "{elements} elements");
    let places: BTreeSet<usize> =
        dom.split("id=\"o").skip(1).filter_map(|rest| rest.split('"').next()?.parse().ok()).collect();
    assert!(places.into_iter().eq(0..COUNT), "every object has its place");
    assert_eq!(dom.matches("open=\"\"").count(), 0, "every object is folded");
    let body = dom.find("<body>").unwrap();
    let place = |wanted: &str| dom[body..].find(wanted).unwrap_or_else(|| panic!("no {wanted}"));
    let first = ["class=\"verdict", "class=\"counts", "Look at this first", "Deletes (3333)", "id=\"o0\""];
    assert!(first.map(place).is_sorted());
    // However many deletions there are, they leave the objects within reach.
    assert!(dom.contains("<ul class=\"long\""));

    let found = page.dom("#find=settings-04242");
    assert!(found.contains(">1 of 10000<"), "{}", &found[..2000]);
    page.screenshot("many.png", "", &[]);
}

#[test]
fn the_page_is_shown_light_and_dark() {
    let page = Page::of(&samples::rich());
    page.screenshot("light.png", "#all", &[]);
    page.screenshot("dark.png", "#all", &["--blink-settings=preferredColorScheme=0"]);
    let (light, dark) =
        (std::fs::read(artefacts().join("light.png")), std::fs::read(artefacts().join("dark.png")));
    assert_ne!(light.unwrap(), dark.unwrap());
}
