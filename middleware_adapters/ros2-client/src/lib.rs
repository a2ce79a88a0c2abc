// SPDX-License-Identifier: Apache-2.0
//! ros2-client by functions of C: shim.h says what each is for.
#![allow(clippy::missing_safety_doc)]
use core::cell::RefCell;
use core::ffi::{CStr, c_char, c_void};
use core::future::poll_fn;
use core::pin::pin;
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::Poll;
use std::thread::JoinHandle;

use futures::executor::block_on;
use futures::future::{Either, select};
use futures::task::AtomicWaker;
use ros2_client::qos::{History, WhenFull};
use ros2_client::{
    Context, ContextOptions, MessageTypeName, Name, Node, NodeName, NodeOptions, Publisher,
    QosProfile, Subscription, WriteError,
};
use serde::{Deserialize, Serialize};

#[path = "../../c_calls.rs"]
mod c_calls;
use c_calls::{DONE, FAILED, NOTHING, Told, guarded, guarded_alone};

#[repr(C)]
pub struct Wanted {
    domain: u16,
    channel: *const c_char,
    side: u32,
    sends: bool,
    receives: bool,
    queue: u64,
}

/// std_msgs/msg/UInt8MultiArray
#[derive(Default, Serialize, Deserialize)]
struct UInt8MultiArray {
    layout: MultiArrayLayout,
    #[serde(with = "serde_bytes")]
    // the same bytes as of a Vec<u8>, which is serialized byte by byte otherwise
    data: Vec<u8>,
}
#[derive(Default, Serialize, Deserialize)]
struct MultiArrayLayout {
    dim: Vec<MultiArrayDimension>,
    data_offset: u32,
}
#[derive(Serialize, Deserialize)]
struct MultiArrayDimension {
    label: String,
    size: u32,
    stride: u32,
}

/// For the thread that made it, except `stop`.
pub struct End {
    publisher: Option<Publisher<UInt8MultiArray>>,
    subscription: Option<Subscription<UInt8MultiArray>>,
    filled: RefCell<UInt8MultiArray>,
    taken: RefCell<UInt8MultiArray>,
    stop: Stop,
    node: Option<Node>,
    spinner: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Stop {
    was_told: AtomicBool,
    sleeper: AtomicWaker,
}
impl Stop {
    fn tell(&self) {
        self.was_told.store(true, Ordering::SeqCst);
        self.sleeper.wake();
    }
    async fn told(&self) {
        poll_fn(|context| {
            self.sleeper.register(context.waker());
            match self.was_told.load(Ordering::SeqCst) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        })
        .await
    }
}

impl Drop for End {
    fn drop(&mut self) {
        (self.publisher, self.subscription, self.node) = (None, None, None);
        if let Some(spinner) = self.spinner.take() {
            let _ = spinner.join(); // ends with its node
        }
    }
}

fn make(wanted: &Wanted) -> Result<End, String> {
    let channel = unsafe { CStr::from_ptr(wanted.channel) };
    let channel = channel.to_str().told("the channel's name")?;
    let context = ContextOptions::new().domain_id(wanted.domain);
    let context = Context::with_options(context).told("a context")?;
    let name = NodeName::new("/icepath", &format!("c{channel}_{}", wanted.side));
    let options = NodeOptions::new()
        .enable_rosout(false)
        .start_parameter_services(false);
    let mut node = context
        .new_node(name.told("a node's name")?, options)
        .told("a node")?;
    let qos = QosProfile::publisher_default()
        .reliability_reliable(WhenFull::DEFAULT)
        .history(History::KeepLast {
            depth: wanted.queue as usize,
        });
    let topic = |node: &Node, from: u32| {
        let name = Name::new("/icepath", &format!("c{channel}_{from}")).told("a topic's name")?;
        let type_name = MessageTypeName::new("std_msgs", "UInt8MultiArray");
        node.create_topic(&name, type_name, &qos).told("a topic")
    };
    let publisher = wanted.sends.then(|| {
        let topic = topic(&node, wanted.side)?;
        node.create_publisher(&topic, None).told("a publisher")
    });
    let publisher = publisher.transpose()?;
    let subscription = wanted.receives.then(|| {
        let topic = topic(&node, 1 - wanted.side)?;
        let subscription = node.create_subscription(&topic, None);
        subscription.told("a subscription")
    });
    let subscription = subscription.transpose()?;
    let spinning = node.spinner().told("a spinner")?.spin();
    let spinner = std::thread::Builder::new()
        .name("ros2 spinner".to_string())
        .spawn(|| drop(block_on(spinning)))
        .told("a thread for the spinner")?;
    Ok(End {
        publisher,
        subscription,
        filled: RefCell::default(),
        taken: RefCell::default(),
        stop: Stop::default(),
        node: Some(node),
        spinner: Some(spinner),
    })
}

impl End {
    fn is_matched(&self) -> bool {
        let Some(node) = &self.node else {
            return false;
        };
        let sent = self.publisher.as_ref();
        let received = self.subscription.as_ref();
        sent.is_none_or(|it| it.get_subscription_count(node) > 0)
            && received.is_none_or(|it| it.get_publisher_count(node) > 0)
    }

    fn publish(&self) -> Result<i32, String> {
        let publisher = self.publisher.as_ref();
        let publisher = publisher.ok_or("this end has no publisher")?;
        match publisher.publish(self.filled.take()) {
            Err(WriteError::WouldBlock { data }) => {
                self.filled.replace(data);
                Ok(NOTHING)
            }
            published => published.told("publishing").map(|()| DONE),
        }
    }

    fn take(&self) -> Result<Option<(*const c_void, u64)>, String> {
        let subscription = self.subscription.as_ref();
        let subscription = subscription.ok_or("this end has no subscription")?;
        let came = pin!(subscription.async_take());
        let Either::Left((came, _)) = block_on(select(came, pin!(self.stop.told()))) else {
            return Ok(None);
        };
        let (message, _) = came.told("taking")?;
        let taken = (message.data.as_ptr().cast(), message.data.len() as u64);
        self.taken.replace(message);
        Ok(Some(taken))
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ros2_end_make(wanted: *const Wanted, why: *mut c_char) -> *mut End {
    guarded(why, core::ptr::null_mut(), || {
        make(unsafe { &*wanted }).map(|end| Box::into_raw(Box::new(end)))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ros2_end_free(end: *mut End) {
    guarded_alone(|| drop(unsafe { Box::from_raw(end) }));
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ros2_is_matched(end: *const End) -> bool {
    let mut is_matched = false;
    guarded_alone(|| is_matched = unsafe { &*end }.is_matched());
    is_matched
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ros2_fill(
    end: *const End,
    data: *const c_void,
    bytes: u64,
    why: *mut c_char,
) -> i32 {
    guarded(why, FAILED, || unsafe {
        let data = core::slice::from_raw_parts(data.cast(), bytes as usize);
        (*end).filled.borrow_mut().data = data.to_vec();
        Ok(DONE)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ros2_publish(end: *const End, why: *mut c_char) -> i32 {
    guarded(why, FAILED, || unsafe { &*end }.publish())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ros2_take(
    end: *const End,
    data: *mut *const c_void,
    bytes: *mut u64,
    why: *mut c_char,
) -> i32 {
    guarded(why, FAILED, || {
        let Some(taken) = unsafe { &*end }.take()? else {
            return Ok(NOTHING);
        };
        unsafe { (*data, *bytes) = taken };
        Ok(DONE)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ros2_stop(end: *const End) {
    guarded_alone(|| unsafe { &*end }.stop.tell());
}
