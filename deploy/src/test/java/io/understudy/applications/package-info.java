/** Programs of others, as Debian packages them, with ours. */
@NullMarked
package io.understudy.applications;

import org.jspecify.annotations.NullMarked;
