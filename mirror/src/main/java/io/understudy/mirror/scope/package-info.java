/** What of a source is mirrored, and under which keys the target holds it. */
@NullMarked
package io.understudy.mirror.scope;

import org.jspecify.annotations.NullMarked;
