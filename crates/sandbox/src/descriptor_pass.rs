//! Passes an open folder from the outer stage to the server: a mount that only the stage could make. The mount ends when its last
//! descriptor is closed.

use std::io::{Error, ErrorKind};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// Space for one descriptor beside the message, aligned as the kernel requires.
#[repr(C)]
union Control {
    header: libc::cmsghdr,
    bytes: [u8; 64],
}

/// Sends a descriptor over a socket.
///
/// # Errors
/// The kernel refuses it.
#[expect(unsafe_code, reason = "the call has no safe form here")]
pub fn send(socket: BorrowedFd<'_>, descriptor: BorrowedFd<'_>) -> std::io::Result<()> {
    let mut byte = 0_u8;
    let mut part = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
    let mut control = Control { bytes: [0; 64] };
    let message = message(&mut part, &mut control);
    let length = u32::try_from(size_of::<libc::c_int>()).unwrap_or_default();
    // SAFETY: the control buffer is aligned as a header, has room for one with a descriptor, and lives until the call returns.
    let sent = unsafe {
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        (*header).cmsg_level = libc::SOL_SOCKET;
        (*header).cmsg_type = libc::SCM_RIGHTS;
        (*header).cmsg_len = libc::CMSG_LEN(length) as usize;
        libc::CMSG_DATA(header).cast::<libc::c_int>().write_unaligned(descriptor.as_raw_fd());
        let message = libc::msghdr { msg_controllen: libc::CMSG_SPACE(length) as usize, ..message };
        libc::sendmsg(socket.as_raw_fd(), &raw const message, libc::MSG_NOSIGNAL)
    };
    if sent == 1 { Ok(()) } else { Err(Error::last_os_error()) }
}

/// Receives a descriptor, without waiting for one.
///
/// # Errors
/// No descriptor has been sent.
#[expect(unsafe_code, reason = "the call has no safe form here")]
pub fn receive(socket: BorrowedFd<'_>) -> std::io::Result<OwnedFd> {
    let mut byte = 0_u8;
    let mut part = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
    let mut control = Control { bytes: [0; 64] };
    let mut message = message(&mut part, &mut control);
    // SAFETY: the buffers live until the call returns. We read a header only if the kernel wrote one, and we are the only owner
    // of the descriptor in it.
    unsafe {
        if libc::recvmsg(socket.as_raw_fd(), &raw mut message, libc::MSG_DONTWAIT | libc::MSG_CMSG_CLOEXEC) != 1 {
            return Err(Error::last_os_error());
        }
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        if header.is_null() || (*header).cmsg_level != libc::SOL_SOCKET || (*header).cmsg_type != libc::SCM_RIGHTS {
            return Err(ErrorKind::InvalidData.into());
        }
        Ok(OwnedFd::from_raw_fd(libc::CMSG_DATA(header).cast::<libc::c_int>().read_unaligned()))
    }
}

#[expect(unsafe_code, reason = "the structure has fields that are not named on every system")]
fn message(part: &mut libc::iovec, control: &mut Control) -> libc::msghdr {
    // SAFETY: all zeros are an empty message without an address.
    let mut message: libc::msghdr = unsafe { MaybeUninit::zeroed().assume_init() };
    message.msg_iov = part;
    message.msg_iovlen = 1;
    message.msg_control = (&raw mut *control).cast();
    message.msg_controllen = size_of::<Control>();
    message
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Seek, Write};
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixDatagram;

    #[test]
    fn a_descriptor_that_is_sent_is_the_same_file_and_none_is_waited_for() {
        let (here, there) = UnixDatagram::pair().unwrap();
        assert!(receive(there.as_fd()).is_err());
        let mut file = tempfile::tempfile().unwrap();
        send(here.as_fd(), file.as_fd()).unwrap();
        let mut other = std::fs::File::from(receive(there.as_fd()).unwrap());
        file.write_all(b"text").unwrap();
        other.rewind().unwrap();
        let mut read = String::new();
        other.read_to_string(&mut read).unwrap();
        assert_eq!(read, "text");
        assert!(receive(there.as_fd()).is_err());
    }
}
