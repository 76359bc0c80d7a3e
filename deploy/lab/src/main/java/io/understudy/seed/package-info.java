/** Makes the first member of a target from a snapshot of the source, at revisions that no client of the source has seen. */
@NullMarked
package io.understudy.seed;

import org.jspecify.annotations.NullMarked;
