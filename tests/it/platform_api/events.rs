//! `events export`: all pages, no event twice, no event lost.

use crate::support::{Platform, World, answer, in_turn};
use serde_json::{Value, json};
use std::fs;
use std::sync::{Arc, Mutex};
use wiremock::{Request, ResponseTemplate};

/// Returns a recent time, so that it is within the retention time of the platform.
fn minutes_ago(minutes: i64) -> String {
    let then = jiff::Timestamp::now() - jiff::SignedDuration::from_mins(minutes);
    then.to_string()
}

fn event(id: usize, minutes: i64) -> Value {
    json!({ "eventId": format!("e{id:04}"), "eventName": "Artifact created", "eventTimestamp": minutes_ago(minutes),
        "actorEmail": "=cmd@example.com", "unknown": { "x": 1 } })
}

type Events = Arc<Mutex<Vec<Value>>>;

/// Returns a platform that serves pages of the current events and then calls `change`.
fn serve_event_pages(
    platform: &Platform,
    events: &Events,
    change: impl Fn(usize, &mut Vec<Value>) + Send + Sync + 'static,
) {
    let (events, requests) = (Arc::clone(events), Mutex::new(0));
    platform.respond_to("GET", "/v1/events$", move |request: &Request| {
        let query = |name: &str| {
            let value = request.url.query_pairs().find(|(key, _)| key == name);
            value.map(|(_, value)| value.into_owned())
        };
        let number = |name| query(name).unwrap().parse::<usize>().unwrap();
        let mut events = events.lock().unwrap();
        let time = |text: &str| text.parse::<jiff::Timestamp>().unwrap();
        let within = |event: &&Value| {
            let at = time(event["eventTimestamp"].as_str().unwrap());
            query("from").is_none_or(|from| at >= time(&from)) && query("to").is_none_or(|to| at <= time(&to))
        };
        let all: Vec<Value> = events.iter().filter(within).cloned().collect();
        let (page, size) = (number("page"), number("size"));
        let results: Vec<Value> = all.iter().skip(page * size).take(size).cloned().collect();
        let body = json!({ "results": results, "page": page, "size": size, "total": all.len() });
        let mut requests = requests.lock().unwrap();
        *requests += 1;
        change(*requests, &mut events);
        answer(&body)
    });
}

fn ids(lines: &str) -> Vec<String> {
    lines
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["eventId"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect()
}

fn event_ids(numbers: std::ops::Range<usize>) -> Vec<String> {
    numbers.map(|n| format!("e{n:04}")).collect()
}

/// Returns `count` events, one per minute, oldest first.
fn events_of_history(count: usize) -> Events {
    let event = |n: usize| event(n, i64::try_from(count - n).unwrap() + 60);
    Arc::new(Mutex::new((0..count).map(event).collect()))
}

#[test]
fn export_reads_all_pages_in_the_order_of_time() {
    let (world, platform) = (World::new(), Platform::new());
    let events = events_of_history(250);
    serve_event_pages(&platform, &events, |_, _| {});
    let output = platform.call(&world).run("events export").expect(0);
    assert_eq!(ids(&output.out), event_ids(0..250));
    let first: Value = serde_json::from_str(output.out.lines().next().unwrap()).unwrap();
    assert_eq!(first["unknown"]["x"], 1);
    // If the platform lists the newest events first, the result is the same.
    events.lock().unwrap().reverse();
    let output = platform.call(&world).run("events export").expect(0);
    assert_eq!(ids(&output.out), event_ids(0..250));
}

#[test]
fn export_with_rejected_page_size_requests_each_page_once() {
    let (world, platform) = (World::new(), Platform::new());
    let all: Vec<Value> = (0..70).map(|n| event(n, 200)).collect();
    platform.respond_to("GET", "/v1/events$", move |request: &Request| {
        let query = |name: &str| request.url.query_pairs().find(|(key, _)| key == name);
        if query("size").is_some() {
            let violation = json!({ "field": "size", "message": "must be at most 50" });
            let body = json!({ "title": "Bad Request", "validation-errors": [violation] });
            return ResponseTemplate::new(400).set_body_json(body);
        }
        let first = query("page").unwrap().1.parse::<usize>().unwrap() * 50;
        let events: Vec<&Value> = all.iter().skip(first).take(50).collect();
        answer(&json!({ "results": events, "total": 70 }))
    });
    let output = platform.call(&world).run("events export").expect(0);
    assert_eq!(ids(&output.out), event_ids(0..70));
    // The rejected request, the two pages, and the first page again, which shows that the list has not changed.
    assert_eq!(platform.requests().len(), 4);
}

#[test]
fn export_of_smaller_pages_than_requested_has_all_events() {
    let (world, platform) = (World::new(), Platform::new());
    let all: Vec<Value> = (0..120).map(|n| event(n, 200)).collect();
    let listed = all.clone();
    platform.respond_to("GET", "/v1/events$", move |request: &Request| {
        let page = request
            .url
            .query_pairs()
            .find(|(key, _)| key == "page")
            .unwrap()
            .1;
        let first = page.parse::<usize>().unwrap() * 50;
        let events: Vec<&Value> = listed.iter().skip(first).take(50).collect();
        answer(&json!({ "results": events }))
    });
    let output = platform.call(&world).run("events export").expect(0);
    assert_eq!(ids(&output.out), event_ids(0..120));
    // An endpoint without paging returns its complete list each time.
    let platform = Platform::new();
    platform.respond_to("GET", "/v1/events$", answer(&json!({ "results": &all[..50] })));
    let output = platform.call(&world).run("events export").expect(0);
    assert_eq!(ids(&output.out), event_ids(0..50));
}

/// Returns events with IDs in random order, five at each time, oldest first.
fn simultaneous(count: usize) -> Vec<Value> {
    let then = minutes_ago(30).parse::<jiff::Timestamp>().unwrap();
    let event = |n: usize| {
        let at = then + jiff::SignedDuration::from_millis(i64::try_from(n / 5).unwrap());
        json!({ "eventId": format!("e{:04}", n * 7919 % 10_000), "eventTimestamp": at.to_string() })
    };
    (0..count).map(event).collect()
}

#[test]
fn export_keeps_the_platforms_order_of_what_happened_at_the_same_time() {
    let all = simultaneous(250);
    let happened: Vec<String> = all
        .iter()
        .map(|event| event["eventId"].as_str().unwrap().to_owned())
        .collect();
    for newest_first in [false, true] {
        let (world, platform) = (World::new(), Platform::new());
        // An event arrives while the first pages are read, so the list is read again.
        let listed = |count: usize| {
            let mut listed = all[..count].to_vec();
            if newest_first {
                listed.reverse();
            }
            listed
        };
        let (later, begin) = (listed(248), listed(247));
        let events = Arc::new(Mutex::new(begin));
        serve_event_pages(&platform, &events, move |request, all| {
            if request == 1 {
                all.clone_from(&later);
            }
        });
        let export = "events export --cursor c.json";
        let output = platform.call(&world).run(export).expect(0);
        assert_eq!(ids(&output.out), happened[..248], "newest first: {newest_first}");
        // The next run continues with the last time.
        *events.lock().unwrap() = listed(250);
        let output = platform.call(&world).run(export).expect(0);
        assert_eq!(ids(&output.out), happened[248..], "newest first: {newest_first}");
    }
}

#[test]
fn export_loses_and_doubles_nothing_while_events_arrive() {
    for newest_first in [false, true] {
        let (world, platform) = (World::new(), Platform::new());
        let events = events_of_history(250);
        if newest_first {
            events.lock().unwrap().reverse();
        }
        serve_event_pages(&platform, &events, move |request, all| {
            if request < 12 {
                let new = event(1000 + request, 0);
                all.insert(if newest_first { 0 } else { all.len() }, new);
            }
        });
        let output = platform.call(&world).run("events export").expect(0);
        let found = ids(&output.out);
        assert_eq!(found[..250], event_ids(0..250), "newest first: {newest_first}");
        let mut once = found.clone();
        once.sort();
        once.dedup();
        assert_eq!(once.len(), found.len());
    }
}

#[test]
fn export_loses_nothing_while_the_oldest_fall_out() {
    let (world, platform) = (World::new(), Platform::new());
    let events = events_of_history(250);
    // After the first page, the oldest event is removed and a new one is added: the total is the same, but the pages
    // have shifted.
    serve_event_pages(&platform, &events, |request, all| {
        if request == 1 {
            all.remove(0);
            all.push(event(1000, 0));
        }
    });
    let output = platform.call(&world).run("events export").expect(0);
    let found = ids(&output.out);
    assert!(
        found.contains(&"e0100".to_owned()),
        "the first event of the second page was skipped"
    );
    assert_eq!(found.len(), 251);
}

#[test]
fn export_of_a_list_with_more_events_than_its_total_is_undecided() {
    for newest_first in [false, true] {
        let mut events = events_of_history(150).lock().unwrap().clone();
        if newest_first {
            events.reverse();
        }
        for total in [5, 120, 150] {
            let (world, platform) = (World::new(), Platform::new());
            let pages = events.clone();
            platform.respond_to("GET", "/v1/events$", move |request: &Request| {
                let mut query = request.url.query_pairs();
                let page = query.find(|(key, _)| key == "page").unwrap().1.into_owned();
                let first = page.parse::<usize>().unwrap() * 100;
                let results: Vec<&Value> = pages.iter().skip(first).take(100).collect();
                answer(&json!({ "results": results, "page": first / 100, "size": 100, "total": total }))
            });
            let export = "events export --cursor c.json";
            let output = platform.call(&world).run(export);
            if total == 150 {
                assert_eq!(ids(&output.expect(0).out), event_ids(0..150));
                continue;
            }
            let text = format!("the list of events announces {total} events, but its pages contain at least");
            let output = output.expect(3).saying(&[&text]);
            assert_eq!(output.out, "");
            assert!(!world.work().join("c.json").exists());
        }
    }
}

#[test]
fn export_of_a_list_that_never_holds_still_is_undecided() {
    let (world, platform) = (World::new(), Platform::new());
    let events = events_of_history(250);
    serve_event_pages(&platform, &events, |_, all| {
        all.remove(0);
    });
    platform
        .call(&world)
        .run("events export")
        .expect(3)
        .saying(&["keeps changing", "--from"]);
}

#[test]
fn export_asks_for_its_window() {
    let (world, platform) = (World::new(), Platform::new());
    serve_event_pages(&platform, &events_of_history(3), |_, _| {});
    let (from, to) = (minutes_ago(62), minutes_ago(0));
    let output = platform
        .call(&world)
        .run(&["events", "export", "--from", &from, "--to", &to])
        .expect(0);
    assert_eq!(ids(&output.out), ["e0002"]);
}

#[test]
fn export_before_the_window_is_refused_without_a_request() {
    let (world, platform) = (World::new(), Platform::new());
    let call = platform.call(&world);
    for (from, expected_text) in [
        (minutes_ago(91 * 24 * 60), "keeps events for 90 days"),
        ("2026-11-20T09:30:00".to_owned(), "offset"),
        ("soon".to_owned(), "is not a valid time"),
    ] {
        call.run(&["events", "export", "--from", &from])
            .expect(2)
            .saying(&[expected_text]);
    }
    let (from, to) = (minutes_ago(5), minutes_ago(10));
    call.run(&["events", "export", "--from", &from, "--to", &to])
        .expect(2)
        .saying(&["is before --from"]);
    assert!(platform.requests().is_empty());
}

#[test]
fn export_as_csv_is_harmless_in_a_spreadsheet() {
    let (world, platform) = (World::new(), Platform::new());
    serve_event_pages(&platform, &events_of_history(1), |_, _| {});
    let output = platform.call(&world).run("events export --format csv").expect(0);
    let lines: Vec<&str> = output.out.split("\r\n").collect();
    assert!(lines[0].starts_with("eventId,eventName,") && lines[0].ends_with(",additionalInfo,unknown"));
    assert!(lines[1].contains(",\"'=cmd@example.com\","), "{}", lines[1]);
}

#[test]
fn export_with_a_cursor_goes_on_where_the_last_run_ended() {
    let (world, platform) = (World::new(), Platform::new());
    let events = events_of_history(20);
    serve_event_pages(&platform, &events, |_, _| {});
    let run = || {
        platform
            .call(&world)
            .run("events export --cursor c.json")
            .expect(0)
    };
    assert_eq!(ids(&run().out), event_ids(0..20));
    assert_eq!(ids(&run().out), event_ids(0..0));
    // One event arrives late, one is new; both are exported exactly once.
    events.lock().unwrap().extend([event(21, 65), event(22, 0)]);
    assert_eq!(ids(&run().out), ["e0021", "e0022"]);
    assert_eq!(ids(&run().out), event_ids(0..0));
}

#[test]
fn export_with_cursor_after_event_in_future_has_later_events() {
    let (world, platform) = (World::new(), Platform::new());
    let events = events_of_history(3);
    events.lock().unwrap().push(event(9, -3 * 365 * 24 * 60));
    serve_event_pages(&platform, &events, |_, _| {});
    let call = platform.call(&world);
    let args = "events export --cursor c.json";
    let output = call
        .run(args)
        .expect(0)
        .saying(&["warning: the time of event e0009 is in the future"]);
    assert_eq!(ids(&output.out), ["e0000", "e0001", "e0002", "e0009"]);
    events.lock().unwrap().push(event(10, 0));
    let output = call.run(args).expect(0);
    assert_eq!(ids(&output.out), ["e0010"]);
    assert!(!output.err.contains("warning"), "{}", output.err);
}

#[test]
fn csv_of_several_exports_with_cursor_is_one_table() {
    let (world, platform) = (World::new(), Platform::new());
    let events = Events::default();
    serve_event_pages(&platform, &events, |_, _| {});
    let call = platform.call(&world);
    let args = "events export -o csv --cursor c.json";
    // The first export has no event, so it does not create the cursor.
    let mut table = call.run(args).expect(0).out;
    events
        .lock()
        .unwrap()
        .push(json!({ "eventId": "a", "eventTimestamp": minutes_ago(9) }));
    table += &call.run(args).expect(0).out;
    let later = json!({ "eventId": "b", "eventTimestamp": minutes_ago(5), "new": { "k": 1 } });
    events.lock().unwrap().push(later.clone());
    // A file of `--out` is a table of its own.
    let cursor = world.read_text("c.json");
    call.run((args, &["--out", "b.csv"])).expect(0);
    world.write("c.json", &cursor);
    table += &call.run(args).expect(0).out;
    table += &call.run(args).expect(0).out;
    let rows: Vec<&str> = table.split_terminator("\r\n").collect();
    assert_eq!(rows.len(), 3, "{table}");
    assert!(
        rows[0].starts_with("eventId,") && rows[0].ends_with(",additionalInfo,otherFields"),
        "{table}"
    );
    assert!(rows[1].starts_with("a,") && rows[1].ends_with(",,"), "{table}");
    assert!(
        rows[2].starts_with("b,") && rows[2].ends_with(r#",,"{""new"":{""k"":1}}""#),
        "{table}"
    );
    assert_eq!(
        world.read_text("b.csv"),
        format!("{}\r\n{}\r\n", rows[0], rows[2])
    );
}

#[test]
fn export_with_cursor_after_quiet_months_needs_a_recent_export() {
    let (world, platform) = (World::new(), Platform::new());
    let events = events_of_history(1);
    serve_event_pages(&platform, &events, |_, _| {});
    let args = "events export --cursor c.json";
    platform.call(&world).run(args).expect(0);
    let mut cursor: Value = serde_json::from_str(&world.read_text("c.json")).unwrap();
    cursor["through"] = json!(minutes_ago(91 * 24 * 60));
    world.write("c.json", cursor.to_string());
    events.lock().unwrap().push(event(7, 1));
    let output = platform.call(&world).run(args).expect(0);
    assert_eq!(ids(&output.out), ["e0007"]);
    // Without a recent export, the platform may have deleted events that were never exported.
    for read in [json!(minutes_ago(91 * 24 * 60)), Value::Null] {
        cursor["read"] = read;
        world.write("c.json", cursor.to_string());
        platform
            .call(&world)
            .run(args)
            .expect(2)
            .saying(&["is too old, so later events are lost"]);
    }
}

#[test]
fn export_with_cursor_in_future_is_refused_without_a_request() {
    let (world, platform) = (World::new(), Platform::new());
    serve_event_pages(&platform, &events_of_history(2), |_, _| {});
    let args = "events export --cursor c.json";
    platform.call(&world).run(args).expect(0);
    let mut cursor: Value = serde_json::from_str(&world.read_text("c.json")).unwrap();
    let request_count = platform.requests().len();
    cursor["through"] = json!(minutes_ago(-365 * 24 * 60));
    world.write("c.json", cursor.to_string());
    let output = platform.call(&world).run(args).expect(2);
    output.saying(&["the cursor ", "is in the future", "hint: check the clock"]);
    assert_eq!(platform.requests().len(), request_count);
    // The clocks of two machines differ a little. A byte order mark does not matter.
    cursor["through"] = json!(minutes_ago(-5));
    world.write("c.json", format!("\u{feff}{cursor}"));
    platform.call(&world).run(args).expect(0);
}

#[test]
fn export_with_cursor_of_another_platform_is_refused_without_a_request() {
    let (world, platform, other) = (World::new(), Platform::new(), Platform::new());
    for platform in [&platform, &other] {
        serve_event_pages(platform, &events_of_history(2), |_, _| {});
    }
    let args = "events export --cursor c.json";
    platform.call(&world).run(args).expect(0);
    let output = other.call(&world).run(args).expect(2);
    output.saying(&[
        "belongs to the platform http://",
        ", not to http://",
        "hint: pass another cursor file",
    ]);
    assert!(other.requests().is_empty());
    // A cursor of an earlier version does not name its platform.
    let mut cursor: Value = serde_json::from_str(&world.read_text("c.json")).unwrap();
    cursor.as_object_mut().unwrap().remove("platform");
    world.write("c.json", &cursor.to_string());
    assert_eq!(other.call(&world).run(args).expect(0).out, "");
    platform.call(&world).run(args).expect(2);
}

#[test]
fn export_with_cursor_does_not_replace_events_of_an_earlier_run() {
    let (world, platform) = (World::new(), Platform::new());
    let events = events_of_history(2);
    serve_event_pages(&platform, &events, |_, _| {});
    let call = platform.call(&world);
    // The first export with a cursor contains all events, so that it may replace a file.
    world.write("a.jsonl", "old");
    call.run("events export --cursor c.json --out a.jsonl").expect(0);
    assert_eq!(ids(&world.read_text("a.jsonl")), event_ids(0..2));
    events.lock().unwrap().push(event(2, 1));
    call.run("events export --cursor c.json --out a.jsonl")
        .expect(2)
        .saying(&["could not write a.jsonl", "`>>`"]);
    assert_eq!(ids(&world.read_text("a.jsonl")), event_ids(0..2));
    call.run("events export --cursor c.json --out b.jsonl").expect(0);
    assert_eq!(ids(&world.read_text("b.jsonl")), ["e0002"]);
    for cursor in ["x.json", "./x.json"] {
        call.run(("events export --out x.json --cursor", &[cursor]))
            .expect(2)
            .saying(&["--out and another output cannot both be written to", "x.json"]);
    }
    assert!(!world.work().join("x.json").exists());
}

#[test]
fn export_with_cursor_of_a_running_export_is_refused() {
    let (world, platform) = (World::new(), Platform::new());
    let list = json!({ "results": [event(1, 60)], "page": 0, "size": 100, "total": 1 });
    let delay = std::time::Duration::from_secs(2);
    platform.respond_to("GET", "/v1/events$", answer(&list).set_delay(delay));
    let args = "events export --cursor c.json";
    let outputs: Vec<_> = std::thread::scope(|scope| {
        let runs = [(); 2].map(|()| scope.spawn(|| platform.call(&world).run(args)));
        runs.map(|run| run.join().unwrap()).into()
    });
    let exported = outputs.iter().filter(|output| !output.out.is_empty()).count();
    assert_eq!(exported, 1);
    let refused = outputs.into_iter().find(|output| output.out.is_empty()).unwrap();
    refused
        .expect(2)
        .saying(&["another run uses the cursor file", "run the command again"]);
    assert!(!world.work().join("c.json.lock").exists());
}

#[test]
fn export_that_fails_leaves_the_cursor() {
    let (world, platform) = (World::new(), Platform::new());
    let list = json!({ "results": [event(1, 60), event(2, 50)], "page": 0, "size": 100, "total": 2 });
    let responses = vec![answer(&list), ResponseTemplate::new(403)];
    platform.respond_to("GET", "/v1/events$", in_turn(responses));
    let args = "events export --cursor c.json";
    platform.call(&world).run(args).expect(0);
    let before = fs::read(world.work().join("c.json")).unwrap();
    platform.call(&world).run(args).expect(4).saying(&["Super Admin"]);
    assert_eq!(fs::read(world.work().join("c.json")).unwrap(), before);
    world.write("c.json", "{}");
    platform
        .call(&world)
        .run(args)
        .expect(2)
        .saying(&["c.json", "start over"]);
}

#[cfg(target_os = "linux")]
#[test]
fn export_that_cannot_be_written_leaves_the_cursor() {
    let (world, platform) = (World::new(), Platform::new());
    serve_event_pages(&platform, &events_of_history(2), |_, _| {});
    let mut command = platform.call(&world).command("events export --cursor c.json");
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let output = command.stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(!world.work().join("c.json").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn export_to_closed_output_leaves_the_cursor() {
    let (world, platform) = (World::new(), Platform::new());
    serve_event_pages(&platform, &events_of_history(2), |_, _| {});
    let call = platform.call(&world);
    let args = "events export --cursor c.json";
    let output = call.command_in_shell("exec >&-", args).output().unwrap();
    let log = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{log}");
    assert!(
        log.contains("standard output is closed or discarded\nhint: pass --out FILE"),
        "{log}"
    );
    assert!(!world.work().join("c.json").exists());
    // Counterpart: a shell that discards the events on purpose, and a file for them.
    let setup = "exec >/dev/null";
    assert!(call.command_in_shell(setup, args).status().unwrap().success());
    assert!(world.work().join("c.json").exists());
    let output = call.command_in_shell("exec >&-", "events export --cursor d.json --out e.jsonl");
    assert!({ output }.status().unwrap().success());
    assert!(world.work().join("d.json").exists());
}
