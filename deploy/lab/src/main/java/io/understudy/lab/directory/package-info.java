/** The lab's data directory: recognised as ours, locked while in use, with what must not change between two starts. */
@NullMarked
package io.understudy.lab.directory;

import org.jspecify.annotations.NullMarked;
