/** The lab's ports: which there are, whether they are free, and who holds the ones that are not. */
@NullMarked
package io.understudy.lab.ports;

import org.jspecify.annotations.NullMarked;
