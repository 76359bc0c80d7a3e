/** What becomes in the target of the leases that the source's keys have. */
@NullMarked
package io.understudy.mirror.lease;

import org.jspecify.annotations.NullMarked;
