/**
 * How far a mirror has come, as stored in its target: one small readable record, refused when it can't be understood.
 */
@NullMarked
package io.understudy.mirror.checkpoint;

import org.jspecify.annotations.NullMarked;
