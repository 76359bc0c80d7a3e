/** Maps target revisions to source revisions by etcd's history of a mirror's checkpoint. */
@NullMarked
package io.understudy.mirror.revisions;

import org.jspecify.annotations.NullMarked;
