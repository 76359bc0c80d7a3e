/** A mirror's progress, stored in its target as one small readable record, parsed strictly. */
@NullMarked
package io.understudy.mirror.checkpoint;

import org.jspecify.annotations.NullMarked;
