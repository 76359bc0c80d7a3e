/** The primary of a mirror's keys, as recorded at both of its clusters. */
@NullMarked
package io.understudy.mirror.home;

import org.jspecify.annotations.NullMarked;
