/** The settings of a mirror process. */
@NullMarked
package io.understudy.mirror.settings;

import org.jspecify.annotations.NullMarked;
