//! Links of the scheme `dissensus:`, as they come from web pages and messages. Nothing in them is trusted:
//! a link is only read here, and its address is checked again where it is used.

use crate::error::ServerError;
use dissensus_api::{LinkKind, LinkTarget};
use std::net::{IpAddr, Ipv6Addr};
use url::{Host, Url};

/// The scheme, which the installers register.
pub const SCHEME: &str = "dissensus";
/// The most bytes of a link: personal links have about 100.
const LONGEST: usize = 2_000;
/// The name of a packet whose address has none.
const NAMELESS: &str = "packet.dissensus";

/// Reads a link: `dissensus://page?url=ADDRESS` or `dissensus://packet?url=ADDRESS`, with the address in
/// percent encoding.
///
/// # Errors
/// It is too long or has another form, or its address is none that may be used ([`ServerError`]).
pub fn read_link(link: &str) -> Result<LinkTarget, ServerError> {
    if link.len() > LONGEST {
        return Err(ServerError::LinkTooLong(LONGEST));
    }
    let outer = Url::parse(link).map_err(|_| ServerError::LinkForm)?;
    let bare = outer.username().is_empty() && outer.password().is_none() && outer.port().is_none();
    if outer.scheme() != SCHEME || !bare || !matches!(outer.path(), "" | "/") || outer.fragment().is_some() {
        return Err(ServerError::LinkForm);
    }
    let kind = match outer.host_str() {
        Some("page") => LinkKind::Page,
        Some("packet") => LinkKind::Packet,
        _ => return Err(ServerError::LinkForm),
    };
    let mut values = outer.query_pairs();
    let (Some((name, address)), None) = (values.next(), values.next()) else {
        return Err(ServerError::LinkForm);
    };
    if name != "url" {
        return Err(ServerError::LinkForm);
    }
    let address = usable(&address)?;
    Ok(LinkTarget {
        kind,
        host: host_of(&address),
        unencrypted: address.scheme() != "https",
        file: file_name(&address),
        address: address.into(),
    })
}

/// Checks an address from a link: `https`, or `http` on this computer and in a private network, as a study
/// is served there; without a name and password.
///
/// # Errors
/// It is none of these.
pub fn usable(address: &str) -> Result<Url, ServerError> {
    let address = Url::parse(address).map_err(|_| ServerError::LinkAddress)?;
    if !address.username().is_empty() || address.password().is_some() {
        return Err(ServerError::LinkCredentials(host_of(&address)));
    }
    let usable = match address.scheme() {
        "https" => address.host().is_some(),
        "http" => is_private(&address),
        _ => false,
    };
    if usable { Ok(address) } else { Err(ServerError::LinkScheme) }
}

/// Whether an address leads to this computer or into a private network.
pub(crate) fn is_private(address: &Url) -> bool {
    match address.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(ip)) => is_private_ip(ip.into()),
        Some(Host::Ipv6(ip)) => is_private_ip(ip.into()),
        None => false,
    }
}

fn is_private_ip(ip: IpAddr) -> bool {
    match ip.to_canonical() {
        IpAddr::V4(ip) => ip.is_loopback() || ip.is_private() || ip.is_link_local(),
        IpAddr::V6(ip) => ip == Ipv6Addr::LOCALHOST || ip.is_unique_local() || ip.is_unicast_link_local(),
    }
}

/// The host, and the port if it is not the usual one. Names in other scripts are in their ASCII form, in
/// which no letter looks like another.
pub(crate) fn host_of(address: &Url) -> String {
    let host = address.host_str().unwrap_or_default();
    address.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// The last part of an address as the name of a file.
fn file_name(address: &Url) -> String {
    let last = address.path_segments().and_then(|mut parts| parts.next_back()).unwrap_or_default();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let named = last.len() <= 80 && !last.starts_with('.') && last.ends_with(".dissensus");
    if named && last.chars().all(plain) { last.to_owned() } else { NAMELESS.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;

    #[rstest]
    #[case::page(
        "dissensus://page?url=https%3A%2F%2Fstudy.example.org%2Fp%2Fabc",
        LinkKind::Page,
        "study.example.org",
        "https://study.example.org/p/abc"
    )]
    #[case::slash_of_browsers(
        "dissensus://page/?url=https://example.org",
        LinkKind::Page,
        "example.org",
        "https://example.org/"
    )]
    #[case::packet(
        "dissensus://packet?url=https://example.org/a/ada.dissensus",
        LinkKind::Packet,
        "example.org",
        "https://example.org/a/ada.dissensus"
    )]
    #[case::port(
        "dissensus://page?url=https://example.org:8401/p",
        LinkKind::Page,
        "example.org:8401",
        "https://example.org:8401/p"
    )]
    #[case::this_computer(
        "dissensus://page?url=http://127.0.0.1:8401/join",
        LinkKind::Page,
        "127.0.0.1:8401",
        "http://127.0.0.1:8401/join"
    )]
    #[case::private(
        "dissensus://page?url=http://192.168.1.7/join",
        LinkKind::Page,
        "192.168.1.7",
        "http://192.168.1.7/join"
    )]
    #[case::private_v6(
        "dissensus://page?url=http://[fd00::7]/join",
        LinkKind::Page,
        "[fd00::7]",
        "http://[fd00::7]/join"
    )]
    #[case::look_alike(
        "dissensus://page?url=https://ex%D0%B0mple.org",
        LinkKind::Page,
        "xn--exmple-4nf.org",
        "https://xn--exmple-4nf.org/"
    )]
    fn link_is_read(#[case] link: &str, #[case] kind: LinkKind, #[case] host: &str, #[case] address: &str) {
        let read = read_link(link).unwrap();
        assert_eq!((read.kind, &*read.host, &*read.address), (kind, host, address));
        assert_eq!(read.unencrypted, address.starts_with("http:"));
    }

    #[rstest]
    #[case::nothing("", "link-form")]
    #[case::other_scheme("https://example.org", "link-form")]
    #[case::unknown_kind("dissensus://run?url=https://example.org", "link-form")]
    #[case::no_address("dissensus://page", "link-form")]
    #[case::more_values("dissensus://page?url=https://example.org&then=quit", "link-form")]
    #[case::path("dissensus://page/etc/passwd?url=https://example.org", "link-form")]
    #[case::fragment("dissensus://page?url=https://example.org#x", "link-form")]
    #[case::user("dissensus://me@page?url=https://example.org", "link-form")]
    #[case::no_url("dissensus://page?url=example.org", "link-address")]
    #[case::no_host("dissensus://page?url=https://", "link-address")]
    #[case::open_http("dissensus://page?url=http://example.org", "link-scheme")]
    #[case::open_ip("dissensus://page?url=http://8.8.8.8/", "link-scheme")]
    #[case::mapped_ip("dissensus://page?url=http://[::ffff:8.8.8.8]/", "link-scheme")]
    #[case::begins_like_private("dissensus://page?url=http://127.0.0.1.example.org/", "link-scheme")]
    #[case::file("dissensus://packet?url=file:///etc/passwd", "link-scheme")]
    #[case::script("dissensus://page?url=javascript:alert(1)", "link-scheme")]
    #[case::itself("dissensus://page?url=dissensus://page", "link-scheme")]
    #[case::credentials("dissensus://page?url=https://bank.example@evil.example/", "link-credentials")]
    #[case::password("dissensus://page?url=https://:secret@evil.example/", "link-credentials")]
    fn other_link_is_refused(#[case] link: &str, #[case] code: &str) {
        assert_eq!(read_link(link).unwrap_err().code(), code);
    }

    #[test]
    fn huge_link_is_refused() {
        let link = format!("dissensus://page?url=https://example.org/{}", "a".repeat(LONGEST));
        assert_eq!(read_link(&link).unwrap_err().code(), "link-too-long");
    }

    #[rstest]
    #[case::usual("https://example.org/a/ada.dissensus", "ada.dissensus")]
    #[case::other_ending("https://example.org/a/ada.exe", NAMELESS)]
    #[case::none("https://example.org/", NAMELESS)]
    #[case::hidden("https://example.org/.dissensus", NAMELESS)]
    #[case::encoded("https://example.org/..%2F..%2Fa.dissensus", NAMELESS)]
    fn file_has_a_plain_name(#[case] address: &str, #[case] name: &str) {
        assert_eq!(file_name(&Url::parse(address).unwrap()), name);
    }

    proptest! {
        #[test]
        fn address_that_is_accepted_is_safe(link in "(dissensus://(page|packet)/?\\?url=)?[ -~]{0,60}|\\PC{0,60}") {
            if let Ok(read) = read_link(&link) {
                let address = Url::parse(&read.address).unwrap();
                prop_assert!(address.scheme() == "https" || address.scheme() == "http" && is_private(&address));
                prop_assert!(address.username().is_empty() && address.password().is_none());
                prop_assert_eq!(usable(&read.address).unwrap(), address, "read the same again");
                prop_assert!(read.file.ends_with(".dissensus") && !read.file.contains(['/', '\\', ':']));
            }
        }

        #[test]
        fn no_other_scheme_is_accepted(scheme in "[a-z][a-z0-9+.-]{0,8}", rest in "[ -~]{0,40}") {
            prop_assume!(scheme != "https" && scheme != "http");
            let link = format!("dissensus://page?url={scheme}:{rest}");
            prop_assert!(read_link(&link).is_err(), "{}", link);
        }
    }
}
