/** The lab's startup progress: a line per part, redrawn on a terminal, appended elsewhere. */
@NullMarked
package io.understudy.lab.progress;

import org.jspecify.annotations.NullMarked;
