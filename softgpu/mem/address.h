/* address: how the addresses of the device relate to those of the host. */
#ifndef WS_SOFTGPU_MEM_ADDRESS_H
#define WS_SOFTGPU_MEM_ADDRESS_H

/*
 * Pinned host memory has a second address on the device, this far above its own: AMD's driver maps it
 * elsewhere, too, and HIP 5 relies on the two being different. No host address has this bit.
 */
#define SG_PINNED_ALIAS (1ull << 47)

#endif
