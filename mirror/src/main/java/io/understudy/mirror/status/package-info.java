/** What a mirror process shows over HTTP: status, metrics, whether it lives and is ready. */
@NullMarked
package io.understudy.mirror.status;

import org.jspecify.annotations.NullMarked;
