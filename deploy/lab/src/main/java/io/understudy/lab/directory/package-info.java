/** The lab's data directory: marked, locked while in use, with the settings that starts share. */
@NullMarked
package io.understudy.lab.directory;

import org.jspecify.annotations.NullMarked;
