/** The lab's ports: their defaults, whether they are free, and the processes that hold them. */
@NullMarked
package io.understudy.lab.ports;

import org.jspecify.annotations.NullMarked;
