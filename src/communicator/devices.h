/* Agreement on device memory (device/device.h).
 *
 * A call with such memory goes native on all ranks, even if a copy to the host and an algorithm
 * would be faster.  An MPI library that supports GPUs sends from there, and one that does not
 * gives its own error.  But a call may have such memory on some ranks only.  So the ranks agree
 * on whether any of them has a runtime, when a communicator is set up and again after so many of
 * its calls.  If any has, they agree for each kind of call on whether any rank has device memory
 * in it.  They do so at the first call of the kind and again after so many.  Calls in between go
 * by the last agreement.  If by that a call is ours, a rank that has device memory copies it to
 * the host and back. */
#ifndef AR_DEVICES_H
#define AR_DEVICES_H

#include "communicator/communicator.h"

/* Ranks agree anew at this call, and whenever their number has doubled. */
#define AR_REVIEW_CALLS 64

/* Does this rank know of a runtime, its own or another rank's? */
bool ar_devices_are_expected(void);

/* Some rank has a runtime: from now on the ranks agree on each kind of call.  Alike on all
 * ranks. */
void ar_devices_expect(struct ar_communicator *c);

/* To be called when c->devices.calls_to_review has come to 0, which is alike on all ranks: asks
 * again whether any rank has a runtime, if none was known to.  Collective over comm.  MPI_SUCCESS
 * or an error of MPI's. */
int ar_devices_review(struct ar_communicator *c, MPI_Comm comm);

/* *for_devices, alike on all ranks: does a call of count elements of r (r->size > 0) go native for
 * device memory?  on_device: does this rank have some in it?  Collective over comm at some of the
 * calls, where c->devices.any.  MPI_SUCCESS, MPI_ERR_NO_MEM or an error of MPI's. */
int ar_devices_agree(struct ar_communicator *c, MPI_Comm comm, const struct ar_reduction *r,
                     size_t count, bool on_device, bool *for_devices);

#endif
