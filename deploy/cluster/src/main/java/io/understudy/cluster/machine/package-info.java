/** Where members run, and how they are started and stopped there. */
@NullMarked
package io.understudy.cluster.machine;

import org.jspecify.annotations.NullMarked;
