/** Creates the first member of a target from a snapshot, at revisions unknown to clients. */
@NullMarked
package io.understudy.seed;

import org.jspecify.annotations.NullMarked;
