/** Whether the target is what its checkpoint says: both sides compared at one revision of the source. */
@NullMarked
package io.understudy.mirror.verify;

import org.jspecify.annotations.NullMarked;
