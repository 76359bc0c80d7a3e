/** What the documents say of commands, files, metrics, pages and settings, held against what there is. */
@NullMarked
package io.understudy.documentation;

import org.jspecify.annotations.NullMarked;
