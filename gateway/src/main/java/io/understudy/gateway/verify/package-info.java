/** Compares the replica with its source, page by page and never in a hurry, and has it built anew if they differ. */
@NullMarked
package io.understudy.gateway.verify;

import org.jspecify.annotations.NullMarked;
