/**
 * The {@code understudy} command: parses arguments and starts what they name. It maps every outcome to an exit status
 * and, on failure, a message. Only this package ends the JVM.
 */
@NullMarked
package io.understudy.cli;

import org.jspecify.annotations.NullMarked;
