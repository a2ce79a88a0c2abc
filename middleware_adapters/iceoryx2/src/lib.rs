// SPDX-License-Identifier: Apache-2.0
//! iceoryx2 by functions of C: shim.h says what each is for.
#![allow(clippy::missing_safety_doc)]
use core::ffi::{CStr, c_char, c_void};
use core::mem::MaybeUninit;
use core::time::Duration;

use iceoryx2::config::Config;
use iceoryx2::port::listener::{Listener, ListenerWaitError};
use iceoryx2::port::notifier::Notifier;
use iceoryx2::port::publisher::Publisher;
use iceoryx2::port::subscriber::Subscriber;
use iceoryx2::port::update_connections::UpdateConnections;
use iceoryx2::port::{BackpressureAction, SendError};
use iceoryx2::prelude::*;
use iceoryx2::sample::Sample;
use iceoryx2::sample_mut_uninit::SampleMutUninit;

#[path = "../../c_calls.rs"]
mod c_calls;
use c_calls::{DONE, FAILED, NOTHING, Told, guarded, guarded_alone};

const HELD_AT_ONCE: usize = 2; // messages that one end has lent, and has taken

/// A wait without a limit may never end (0.10.0). A listener that clears its socket may consume the datagram of an
/// event that its notifier hasn't recorded as sent yet. If the notifier records it once the listener sleeps again, it
/// assumes that later events need no datagram, and only the listener's timeout wakes it, which corrects this.
const LONGEST_WAIT: Duration = Duration::from_millis(100);

#[repr(C)]
pub struct Wanted {
    channel: *const c_char,
    side: u32,
    sends: bool,
    receives: bool,
    tells: bool,
    queue: u64,
    payload_bytes: u64,
    gives_up: extern "C" fn(*const c_void) -> bool,
    end: *const c_void,
}

struct Sending {
    lent: Vec<SampleMutUninit<ipc::Service, [MaybeUninit<u8>], ()>>,
    publisher: Publisher<ipc::Service, [u8], ()>,
    notifier: Option<Notifier<ipc::Service>>,
}

struct Receiving {
    taken: Vec<Sample<ipc::Service, [u8], ()>>,
    subscriber: Subscriber<ipc::Service, [u8], ()>,
    listener: Option<Listener<ipc::Service>>,
}

pub struct Ports {
    sending: Option<Sending>,
    receiving: Option<Receiving>,
    _node: Node<ipc::Service>, // ends last
}

/// Asked by a waiting send, in its thread.
struct Asked {
    gives_up: extern "C" fn(*const c_void) -> bool,
    end: *const c_void,
}
unsafe impl Send for Asked {}
impl Asked {
    fn action(&self) -> BackpressureAction {
        match (self.gives_up)(self.end) {
            true => BackpressureAction::DiscardDataAndFail,
            false => BackpressureAction::Retry,
        }
    }
}

fn make(wanted: &Wanted) -> Result<Ports, String> {
    let channel = unsafe { CStr::from_ptr(wanted.channel) };
    let channel = channel.to_str().told("the channel's name")?;
    let node = NodeBuilder::new()
        .signal_handling_mode(SignalHandlingMode::Disabled)
        .config(&Config::default()) // and none of files that happen to be here
        .create::<ipc::Service>()
        .told("a node")?;
    let service = |from: u32| {
        ServiceName::new(&format!("icepath/{channel}/{from}"))
            .told("a service's name")
            .map(|name| node.service_builder(&name))
    };
    let messages = |from: u32| {
        service(from)?
            .publish_subscribe::<[u8]>()
            .max_nodes(2)
            .max_publishers(1)
            .max_subscribers(1)
            .history_size(0)
            .enable_safe_overflow(false)
            .subscriber_max_buffer_size(wanted.queue as usize)
            .subscriber_max_borrowed_samples(HELD_AT_ONCE)
            .open_or_create()
            .told("a service of messages")
    };
    let events = |from: u32| {
        service(from)?
            .event()
            .max_nodes(2)
            .max_notifiers(1)
            .max_listeners(1)
            .open_or_create()
            .told("a service of events")
    };
    let notifier = |from: u32| events(from)?.notifier_builder().create().told("a notifier");
    let listener = |from: u32| events(from)?.listener_builder().create().told("a listener");
    let sending = || {
        let asked = Asked {
            gives_up: wanted.gives_up,
            end: wanted.end,
        };
        Ok::<_, String>(Sending {
            lent: Vec::with_capacity(HELD_AT_ONCE),
            publisher: messages(wanted.side)?
                .publisher_builder()
                .initial_max_slice_len(wanted.payload_bytes as usize)
                .max_loaned_samples(HELD_AT_ONCE)
                .set_backpressure_handler(move |_| asked.action())
                .create()
                .told("a publisher")?,
            notifier: wanted.tells.then(|| notifier(wanted.side)).transpose()?,
        })
    };
    let receiving = || {
        let from = 1 - wanted.side;
        Ok::<_, String>(Receiving {
            taken: Vec::with_capacity(HELD_AT_ONCE),
            subscriber: messages(from)?
                .subscriber_builder()
                .create()
                .told("a subscriber")?,
            listener: wanted.tells.then(|| listener(from)).transpose()?,
        })
    };
    Ok(Ports {
        sending: wanted.sends.then(sending).transpose()?,
        receiving: wanted.receives.then(receiving).transpose()?,
        _node: node,
    })
}

impl Ports {
    fn sending(&mut self) -> Result<&mut Sending, String> {
        let missing = "this end has no publisher";
        self.sending.as_mut().ok_or_else(|| missing.to_string())
    }
    fn receiving(&mut self) -> Result<&mut Receiving, String> {
        let missing = "this end has no subscriber";
        self.receiving.as_mut().ok_or_else(|| missing.to_string())
    }

    fn join(&mut self) -> Result<i32, String> {
        if let Some(it) = &self.sending {
            it.publisher
                .update_connections()
                .told("joining the subscriber")?;
        }
        if let Some(it) = &self.receiving {
            it.subscriber
                .update_connections()
                .told("joining the publisher")?;
        }
        Ok(DONE)
    }

    fn lend(&mut self, bytes: u64) -> Result<*mut c_void, String> {
        let sending = self.sending()?;
        let mut sample = sending
            .publisher
            .loan_slice_uninit(bytes as usize)
            .told("lending")?;
        let slot = sample.payload_mut().as_mut_ptr().cast();
        sending.lent.push(sample);
        Ok(slot)
    }

    fn send(&mut self, slot: *const c_void) -> Result<i32, String> {
        let sending = self.sending()?;
        let place = sending
            .lent
            .iter()
            .position(|it| it.payload().as_ptr().cast() == slot);
        let sample = sending
            .lent
            .swap_remove(place.ok_or("the sent slot isn't lent")?);
        // The caller has filled it.
        match unsafe { sample.assume_init() }.send() {
            Ok(0) | Err(SendError::UnableToDeliver) => return Ok(NOTHING),
            sent => sent.told("sending")?,
        };
        if let Some(notifier) = &sending.notifier {
            notifier.notify().told("notifying")?;
        }
        Ok(DONE)
    }

    fn take(&mut self) -> Result<Option<(*const c_void, u64)>, String> {
        let receiving = self.receiving()?;
        let Some(sample) = receiving.subscriber.receive().told("taking")? else {
            return Ok(None);
        };
        let payload = sample.payload();
        let slot = (payload.as_ptr().cast(), payload.len() as u64);
        receiving.taken.push(sample);
        Ok(Some(slot))
    }

    fn give_back(&mut self, slot: *const c_void) {
        if let Some(it) = &mut self.receiving {
            it.taken
                .retain(|taken| taken.payload().as_ptr().cast() != slot);
        }
    }

    fn wait(&mut self) -> Result<i32, String> {
        let listener = self
            .receiving()?
            .listener
            .as_ref()
            .ok_or("this end has no listener")?;
        match listener.timed_wait(|_| {}, LONGEST_WAIT) {
            Err(ListenerWaitError::InterruptSignal) => Ok(NOTHING),
            waited => waited.told("waiting").map(|_| DONE),
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn iox2_ports_make(wanted: *const Wanted, why: *mut c_char) -> *mut Ports {
    guarded(why, core::ptr::null_mut(), || {
        set_log_level(LogLevel::Fatal); // each call reports its own failure
        make(unsafe { &*wanted }).map(|ports| Box::into_raw(Box::new(ports)))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn iox2_ports_free(ports: *mut Ports) {
    guarded_alone(|| drop(unsafe { Box::from_raw(ports) }));
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn iox2_join(ports: *mut Ports, why: *mut c_char) -> i32 {
    guarded(why, FAILED, || unsafe { &mut *ports }.join())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn iox2_lend(
    ports: *mut Ports,
    bytes: u64,
    slot: *mut *mut c_void,
    why: *mut c_char,
) -> i32 {
    guarded(why, FAILED, || {
        unsafe { *slot = (*ports).lend(bytes)? };
        Ok(DONE)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn iox2_send(
    ports: *mut Ports,
    slot: *const c_void,
    why: *mut c_char,
) -> i32 {
    guarded(why, FAILED, || unsafe { &mut *ports }.send(slot))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn iox2_take(
    ports: *mut Ports,
    slot: *mut *const c_void,
    bytes: *mut u64,
    why: *mut c_char,
) -> i32 {
    guarded(why, FAILED, || {
        let Some(taken) = unsafe { &mut *ports }.take()? else {
            return Ok(NOTHING);
        };
        unsafe { (*slot, *bytes) = taken };
        Ok(DONE)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn iox2_give_back(ports: *mut Ports, slot: *const c_void) {
    guarded_alone(|| unsafe { &mut *ports }.give_back(slot));
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn iox2_wait(ports: *mut Ports, why: *mut c_char) -> i32 {
    guarded(why, FAILED, || unsafe { &mut *ports }.wait())
}
