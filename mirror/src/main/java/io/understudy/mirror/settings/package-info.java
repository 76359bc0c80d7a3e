/** What a mirror process is configured with. */
@NullMarked
package io.understudy.mirror.settings;

import org.jspecify.annotations.NullMarked;
