/**
 * Server processes behind one small interface.
 *
 * <p>{@link io.understudy.local.process.ServerProcess} is what may be done to a server; a {@link
 * io.understudy.local.process.ServerHost} turns a {@link io.understudy.local.process.ServerCommand} into one. {@link
 * io.understudy.local.process.LocalProcesses} runs them as children of this JVM, none of which outlives it, whatever
 * ends it.
 */
@NullMarked
package io.understudy.local.process;

import org.jspecify.annotations.NullMarked;
