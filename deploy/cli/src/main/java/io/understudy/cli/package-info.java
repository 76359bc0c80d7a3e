/**
 * The {@code understudy} command: parses arguments, starts what they name, and turns every outcome into an exit
 * status and, on failure, one line. Only this package ends the JVM.
 */
@NullMarked
package io.understudy.cli;

import org.jspecify.annotations.NullMarked;
