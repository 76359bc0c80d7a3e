/** The mirrored keys of a source and their names in the target. */
@NullMarked
package io.understudy.mirror.scope;

import org.jspecify.annotations.NullMarked;
