// SPDX-License-Identifier: Apache-2.0
//! Zenoh by functions of C: shim.h says what each is for.
#![allow(clippy::missing_safety_doc)]
use core::cell::RefCell;
use core::ffi::{CStr, c_char, c_void};
use std::io::Read;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use zenoh::handlers::{FifoChannel, FifoChannelHandler};
use zenoh::pubsub::{Publisher, Subscriber};
use zenoh::qos::CongestionControl;
use zenoh::sample::Sample;
use zenoh::{Config, Session, Wait};

#[path = "../../c_calls.rs"]
mod c_calls;
use c_calls::{DONE, FAILED, NOTHING, Told, guarded, guarded_alone};

#[repr(C)]
pub struct Wanted {
    config: *const c_char,
    channel: *const c_char,
    side: u32,
    sends: bool,
    receives: bool,
    express: bool,
    queue: u64,
    handle: Option<Handle>,
    end: *mut c_void,
}

type Handle = unsafe extern "C" fn(end: *mut c_void, data: *const c_void, bytes: u64);
type Samples = FifoChannelHandler<Sample>;

/// The handler that a library thread calls with each message, one after the other. None: no handler is left.
struct Callee(Option<(Handle, *mut c_void)>);
unsafe impl Send for Callee {} // the end in C++ expects calls of that thread

impl Callee {
    fn call(&self, sample: &Sample) {
        if let Some((handle, end)) = self.0 {
            let payload = sample.payload().to_bytes();
            unsafe { handle(end, payload.as_ptr().cast(), payload.len() as u64) };
        }
    }
}

struct Sending {
    publisher: Publisher<'static>,
    is_matched: Arc<AtomicBool>,
}

struct Receiving {
    samples: Samples,
    taken: RefCell<Option<Sample>>,
    subscriber: Mutex<Option<Subscriber<Samples>>>, // None: stopped
}

struct Handling {
    callee: Arc<Mutex<Callee>>, // locked while it is called
    _subscriber: Subscriber<()>,
}

/// For the thread that made it, except `stop` and what is called by `handling`.
pub struct End {
    sending: Option<Sending>,
    receiving: Option<Receiving>,
    handling: Option<Handling>,
    _session: Session, // ends last
}

fn make(wanted: &Wanted) -> Result<End, String> {
    let config = unsafe { CStr::from_ptr(wanted.config) };
    let config = Config::from_json5(config.to_str().told("the configuration")?);
    let session = zenoh::open(config.told("the configuration")?).wait();
    let session = session.told("a session")?;
    let channel = unsafe { CStr::from_ptr(wanted.channel) };
    let channel = channel.to_str().told("the channel's name")?;
    let key = |from: u32| format!("icepath/{channel}/{from}");
    let sending = || {
        let publisher = session
            .declare_publisher(key(wanted.side))
            .congestion_control(CongestionControl::Block)
            .express(wanted.express)
            .wait()
            .told("a publisher")?;
        let is_matched = Arc::new(AtomicBool::new(false));
        let noted = is_matched.clone();
        publisher
            .matching_listener()
            .callback(move |status| noted.store(status.matching(), Ordering::Release))
            .background()
            .wait()
            .told("a matching listener")?;
        Ok::<_, String>(Sending {
            publisher,
            is_matched,
        })
    };
    let receiving = || {
        let subscriber = session
            .declare_subscriber(key(1 - wanted.side))
            .with(FifoChannel::new(wanted.queue as usize))
            .wait()
            .told("a subscriber")?;
        Ok::<_, String>(Receiving {
            samples: subscriber.handler().clone(),
            taken: RefCell::default(),
            subscriber: Mutex::new(Some(subscriber)),
        })
    };
    let handling = |handle| {
        let callee = Arc::new(Mutex::new(Callee(Some((handle, wanted.end)))));
        let called = callee.clone();
        let subscriber = session
            .declare_subscriber(key(1 - wanted.side))
            .callback(move |sample| {
                if let Ok(callee) = called.lock() {
                    callee.call(&sample);
                }
            })
            .wait()
            .told("a subscriber")?;
        Ok::<_, String>(Handling {
            callee,
            _subscriber: subscriber,
        })
    };
    let is_asked = wanted.receives && wanted.handle.is_none();
    Ok(End {
        receiving: is_asked.then(receiving).transpose()?,
        handling: wanted.handle.map(handling).transpose()?,
        sending: wanted.sends.then(sending).transpose()?,
        _session: session,
    })
}

impl End {
    fn sending(&self) -> Result<&Sending, String> {
        let missing = "this end has no publisher";
        self.sending.as_ref().ok_or_else(|| missing.to_string())
    }
    fn receiving(&self) -> Result<&Receiving, String> {
        let missing = "this end has no subscriber";
        self.receiving.as_ref().ok_or_else(|| missing.to_string())
    }

    fn put(&self, data: &[u8]) -> Result<i32, String> {
        self.sending()?.publisher.put(data).wait().told("put")?;
        Ok(DONE)
    }

    fn take(&self) -> Result<Option<u64>, String> {
        let receiving = self.receiving()?;
        let Ok(sample) = receiving.samples.recv() else {
            return Ok(None); // no subscriber is left
        };
        let bytes = sample.payload().len() as u64;
        receiving.taken.replace(Some(sample));
        Ok(Some(bytes))
    }

    fn read(&self, data: &mut [u8]) -> Result<i32, String> {
        let taken = self.receiving()?.taken.take();
        let sample = taken.ok_or("no message was taken")?;
        let mut payload = sample.payload().reader();
        payload.read_exact(data).told("reading")?;
        Ok(DONE)
    }

    fn stop(&self) {
        if let Some(it) = &self.receiving {
            drop(it.subscriber.lock().map(|mut subscriber| subscriber.take()));
        }
        if let Some(it) = &self.handling {
            drop(it.callee.lock().map(|mut callee| callee.0.take()));
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn zenoh_end_make(wanted: *const Wanted, why: *mut c_char) -> *mut End {
    guarded(why, core::ptr::null_mut(), || {
        make(unsafe { &*wanted }).map(|end| Box::into_raw(Box::new(end)))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn zenoh_end_free(end: *mut End) {
    guarded_alone(|| unsafe {
        (*end).stop(); // its handler may be using the rest
        drop(Box::from_raw(end));
    });
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn zenoh_is_matched(end: *const End) -> bool {
    let sending = unsafe { &(*end).sending };
    sending
        .as_ref()
        .is_none_or(|it| it.is_matched.load(Ordering::Acquire))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn zenoh_put(
    end: *const End,
    data: *const c_void,
    bytes: u64,
    why: *mut c_char,
) -> i32 {
    guarded(why, FAILED, || unsafe {
        (*end).put(core::slice::from_raw_parts(data.cast(), bytes as usize))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn zenoh_take(end: *const End, bytes: *mut u64, why: *mut c_char) -> i32 {
    guarded(why, FAILED, || {
        let Some(taken) = unsafe { &*end }.take()? else {
            return Ok(NOTHING);
        };
        unsafe { *bytes = taken };
        Ok(DONE)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn zenoh_read(
    end: *const End,
    data: *mut c_void,
    bytes: u64,
    why: *mut c_char,
) -> i32 {
    guarded(why, FAILED, || unsafe {
        (*end).read(core::slice::from_raw_parts_mut(data.cast(), bytes as usize))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn zenoh_stop(end: *const End) {
    guarded_alone(|| unsafe { &*end }.stop());
}
