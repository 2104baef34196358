//! How many requests a server takes from one sender.

use dissensus_project::sync::lock;
use std::collections::HashMap;
use std::hash::Hash;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Instant;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Requests with one link: so many at once, and so many a second. A page sends one after each answer.
const OF_LINK: Rate = Rate { burst: 30.0, per_second: 5.0 };
/// Wrong links from one address.
const WRONG: Rate = Rate { burst: 20.0, per_second: 0.2 };
/// People who join from one address: a class in a computer room.
const JOINS: Rate = Rate { burst: 60.0, per_second: 0.1 };
/// Submissions with one link that are received at a time: further ones are refused. A page sends one after
/// the other, but a lost connection may have its place for a while.
const SENDING: usize = 4;
/// The most of all submissions that is in memory, in KiB: further ones wait.
const IN_MEMORY: u32 = 256 << 10;
/// When the memory of senders is cleared of those who have been quiet.
const MOST: usize = 10_000;

#[derive(Clone, Copy)]
struct Rate {
    burst: f64,
    per_second: f64,
}

/// What is left to each sender; only in memory.
struct Buckets<Key> {
    rate: Rate,
    left: Mutex<HashMap<Key, (f64, Instant)>>,
}

impl<Key: Eq + Hash> Buckets<Key> {
    fn new(rate: Rate) -> Self {
        Self { rate, left: Mutex::default() }
    }

    /// Takes one request, if there is one left.
    fn take(&self, key: Key, now: Instant) -> bool {
        let Rate { burst, per_second } = self.rate;
        let refilled = |(left, since): (f64, Instant)| {
            (left + now.saturating_duration_since(since).as_secs_f64() * per_second).min(burst)
        };
        let mut all = lock(&self.left);
        if all.len() >= MOST {
            all.retain(|_, bucket| refilled(*bucket) < burst);
        }
        let bucket = all.entry(key).or_insert((burst, now));
        let left = refilled(*bucket);
        let enough = left >= 1.0;
        *bucket = (if enough { left - 1.0 } else { left }, now);
        enough
    }
}

/// Places of which each sender has only so many at a time.
pub(crate) struct Places<Key> {
    most: usize,
    taken: Arc<Mutex<HashMap<Key, usize>>>,
}

/// A place of a sender, until it is dropped.
pub(crate) struct Place<Key: Eq + Hash> {
    key: Key,
    taken: Arc<Mutex<HashMap<Key, usize>>>,
}

impl<Key: Eq + Hash + Clone> Places<Key> {
    pub(crate) fn new(most: usize) -> Self {
        Self { most, taken: Arc::default() }
    }

    /// A place, if one is left to this sender.
    pub(crate) fn take(&self, key: Key) -> Option<Place<Key>> {
        let mut all = lock(&self.taken);
        let taken = all.entry(key.clone()).or_default();
        if *taken >= self.most {
            return None;
        }
        *taken += 1;
        Some(Place { key, taken: Arc::clone(&self.taken) })
    }
}

impl<Key: Eq + Hash> Drop for Place<Key> {
    fn drop(&mut self) {
        let mut all = lock(&self.taken);
        let Some(taken) = all.get_mut(&self.key) else { return };
        *taken -= 1;
        if *taken == 0 {
            all.remove(&self.key);
        }
    }
}

/// The limits of a server.
pub(crate) struct Limits {
    behind_proxy: bool,
    links: Buckets<String>,
    wrong: Buckets<IpAddr>,
    joins: Buckets<IpAddr>,
    sending: Places<String>,
    memory: Arc<Semaphore>,
}

impl Limits {
    pub(crate) fn new(behind_proxy: bool) -> Self {
        Self {
            behind_proxy,
            links: Buckets::new(OF_LINK),
            wrong: Buckets::new(WRONG),
            joins: Buckets::new(JOINS),
            sending: Places::new(SENDING),
            memory: Arc::new(Semaphore::new(IN_MEMORY as usize)),
        }
    }

    /// Who sends a request: `connected`, or whom the proxy names last in `forwarded`. All addresses of an
    /// IPv6 network are one sender.
    pub(crate) fn sender(&self, connected: IpAddr, forwarded: Option<&str>) -> IpAddr {
        let named = forwarded.filter(|_| self.behind_proxy).and_then(|all| all.rsplit(',').next());
        network_of(named.and_then(|name| address_in(name.trim())).unwrap_or(connected))
    }

    /// Whether another request with this link is taken.
    pub(crate) fn allows_link(&self, secret: &str) -> bool {
        self.links.take(secret.to_owned(), Instant::now())
    }

    /// A place to send something with this link, if there is one.
    pub(crate) fn sending(&self, secret: &str) -> Option<Place<String>> {
        self.sending.take(secret.to_owned())
    }

    /// Memory for so many bytes, once there is enough.
    pub(crate) async fn memory(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let size = u32::try_from(bytes.div_ceil(1024)).unwrap_or(IN_MEMORY).min(IN_MEMORY);
        // It is never closed.
        Arc::clone(&self.memory).acquire_many_owned(size).await.ok()
    }

    /// Whether another person may join from there.
    pub(crate) fn allows_join(&self, sender: IpAddr) -> bool {
        self.joins.take(sender, Instant::now())
    }

    /// Counts a wrong link; false if there were too many from there.
    pub(crate) fn allows_wrong(&self, sender: IpAddr) -> bool {
        self.wrong.take(sender, Instant::now())
    }
}

/// An address, which some proxies name with a port.
fn address_in(name: &str) -> Option<IpAddr> {
    let with_port = || name.parse().ok().map(|address: SocketAddr| address.ip());
    name.parse().ok().or_else(with_port)
}

/// The address, or the /64 in which it is: one connection has that many addresses (RFC 6177).
pub(crate) fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(one) => Ipv6Addr::from_bits(one.to_bits() & (u128::MAX << 64)).into(),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn bucket_empties_and_fills_again() {
        let buckets = Buckets::new(Rate { burst: 2.0, per_second: 0.5 });
        let now = Instant::now();
        let at = |seconds| now + Duration::from_secs(seconds);
        let taken: Vec<bool> = (0..3).map(|_| buckets.take("a", now)).collect();
        assert_eq!(taken, [true, true, false]);
        assert!(buckets.take("b", now), "of another sender");
        assert!(!buckets.take("a", at(1)));
        assert!(buckets.take("a", at(3)));
        assert!(!buckets.take("a", at(3)));
        // However long it was quiet, no more than a burst at once.
        let taken: Vec<bool> = (0..3).map(|_| buckets.take("a", at(1000))).collect();
        assert_eq!(taken, [true, true, false]);
    }

    #[test]
    fn sender_is_named_by_the_proxy_only_where_there_is_one() {
        let (connected, named): (IpAddr, IpAddr) = ([127, 0, 0, 1].into(), [192, 0, 2, 7].into());
        assert_eq!(Limits::new(false).sender(connected, Some("192.0.2.7")), connected);
        let behind = Limits::new(true);
        // What the sender wrote itself comes first.
        assert_eq!(behind.sender(connected, Some("198.51.100.1, 192.0.2.7")), named);
        assert_eq!(behind.sender(connected, Some("192.0.2.7:4711")), named);
        assert_eq!(behind.sender(connected, Some("nonsense")), connected);
        assert_eq!(behind.sender(connected, None), connected);
    }

    #[test]
    fn addresses_of_one_network_are_one_sender() {
        let limits = Limits::new(true);
        let sender = |named: &str| limits.sender([127, 0, 0, 1].into(), Some(named));
        assert_eq!(sender("2001:db8:1:2::1"), sender("2001:db8:1:2:ffff:ffff:ffff:ffff"));
        assert_eq!(sender("[2001:db8:1:2::1]:4711"), sender("2001:db8:1:2::9"));
        assert_ne!(sender("2001:db8:1:2::1"), sender("2001:db8:1:3::1"));
        // An IPv4 address that is written as one of IPv6 is that one address.
        assert_eq!(sender("::ffff:192.0.2.7"), sender("192.0.2.7"));
        assert_ne!(sender("::ffff:192.0.2.7"), sender("::ffff:192.0.2.8"));
        assert_ne!(sender("192.0.2.7"), sender("192.0.2.8"));
        // So nobody gets further by changing the address.
        let joined = (0..200).filter(|n| limits.allows_join(sender(&format!("2001:db8::{n:x}")))).count();
        assert_eq!(joined, 60);
    }

    #[test]
    fn places_of_a_sender_are_free_again_after_use() {
        let places = Places::new(2);
        let (one, two) = (places.take("a").unwrap(), places.take("a"));
        assert!(two.is_some() && places.take("a").is_none());
        assert!(places.take("b").is_some(), "of another sender");
        drop(one);
        let again = places.take("a");
        assert!(again.is_some() && places.take("a").is_none());
        drop((two, again));
        assert!(lock(&places.taken).is_empty(), "nobody is remembered");
    }

    #[tokio::test]
    async fn memory_of_submissions_is_bounded() {
        let limits = Limits::new(false);
        let mut held = Vec::new();
        for _ in 0..16 {
            held.push(limits.memory(16 << 20).await);
        }
        let another = limits.memory(1);
        let mut another = std::pin::pin!(another);
        let waiting = tokio::time::timeout(Duration::from_millis(10), another.as_mut()).await;
        assert!(waiting.is_err(), "256 MiB are in memory");
        held.pop();
        assert!(another.await.is_some());
    }

    #[test]
    fn link_and_joining_have_their_own_limits() {
        let limits = Limits::new(false);
        let (one, other): (IpAddr, IpAddr) = ([192, 0, 2, 1].into(), [192, 0, 2, 2].into());
        let taken = (0..1000).filter(|_| limits.allows_link("a")).count();
        // What comes back meanwhile: five a second.
        assert!((30..200).contains(&taken), "{taken} requests of one link");
        assert!(limits.allows_link("b"));
        let joined = (0..1000).filter(|_| limits.allows_join(one)).count();
        assert!((60..70).contains(&joined), "{joined} people from one address");
        assert!(limits.allows_join(other) && limits.allows_wrong(one), "limits of another kind or sender");
        // A page that sends an answer every 200 ms is never refused; nor are ten people a minute.
        let (start, at) = (Instant::now(), |seconds: f64| Duration::from_secs_f64(seconds));
        let links = Buckets::new(OF_LINK);
        assert!((0..500).all(|n| links.take("c", start + at(f64::from(n) * 0.201))));
        let joins = Buckets::new(JOINS);
        assert!((0..500).all(|n| joins.take(one, start + at(f64::from(n) * 10.1))));
        let later = start + at(86_400.0);
        assert_eq!((0..1000).filter(|_| links.take("c", later)).count(), 30);
        assert_eq!((0..1000).filter(|_| joins.take(one, later)).count(), 60);
    }

    #[test]
    fn wrong_links_of_one_sender_end_its_requests() {
        let limits = Limits::new(false);
        let (one, other): (IpAddr, IpAddr) = ([192, 0, 2, 1].into(), [192, 0, 2, 2].into());
        assert_eq!((0..100).take_while(|_| limits.allows_wrong(one)).count(), 20);
        assert!(limits.allows_wrong(other));
    }
}
