//! What the JUnit writer leaves out: totals on the root, skipped counts and properties on the suites. Its invented
//! `hostname` goes. The document is read and written event by event, so no text in it can be mistaken for markup.

use crate::report::ReportError;
use quick_xml::Writer;
use quick_xml::events::{BytesEnd, BytesStart, Event};
use quick_xml::reader::Reader;

/// What is added.
pub struct Additions<'a> {
    /// Attributes of the root.
    pub totals: &'a [(&'static str, String)],
    /// Skipped cases, by suite.
    pub skipped: &'a [usize],
    /// Properties of every suite.
    pub properties: &'a [(&'static str, String)],
}

/// The completed document.
pub fn complete(xml: &str, additions: &Additions<'_>) -> Result<String, ReportError> {
    let mut reader = Reader::from_str(xml);
    let mut writer = Writer::new(Vec::with_capacity(xml.len() * 2));
    let mut suites = additions.skipped.iter();
    loop {
        match reader.read_event()? {
            Event::Eof => break,
            Event::Start(tag) if tag.name().as_ref() == b"testsuites" => {
                writer.write_event(Event::Start(with(&tag, additions.totals)?))?;
            }
            Event::Start(tag) if tag.name().as_ref() == b"testsuite" => {
                open_suite(&mut writer, &tag, suites.next().copied(), additions)?;
            }
            Event::Empty(tag) if tag.name().as_ref() == b"testsuite" => {
                open_suite(&mut writer, &tag, suites.next().copied(), additions)?;
                writer.write_event(Event::End(BytesEnd::new("testsuite")))?;
            }
            event => writer.write_event(event)?,
        }
    }
    Ok(String::from_utf8_lossy(&writer.into_inner()).into_owned())
}

fn open_suite(
    writer: &mut Writer<Vec<u8>>,
    tag: &BytesStart<'_>,
    skipped: Option<usize>,
    additions: &Additions<'_>,
) -> Result<(), ReportError> {
    let skipped = [("skipped", skipped.unwrap_or_default().to_string())];
    writer.write_event(Event::Start(with(tag, &skipped)?))?;
    writer.write_event(Event::Start(BytesStart::new("properties")))?;
    for (name, value) in additions.properties {
        let mut property = BytesStart::new("property");
        property.push_attribute(("name", *name));
        property.push_attribute(("value", value.as_str()));
        writer.write_event(Event::Empty(property))?;
    }
    writer.write_event(Event::End(BytesEnd::new("properties")))?;
    Ok(())
}

/// The tag with more attributes, and without the host name.
fn with(tag: &BytesStart<'_>, more: &[(&'static str, String)]) -> Result<BytesStart<'static>, ReportError> {
    let mut opened = BytesStart::new(String::from_utf8_lossy(tag.name().as_ref()).into_owned());
    for attribute in tag.attributes() {
        let attribute = attribute?;
        if attribute.key.as_ref() != b"hostname" {
            opened.push_attribute(attribute);
        }
    }
    for (name, value) in more {
        opened.push_attribute((*name, value.as_str()));
    }
    Ok(opened)
}
