/** The commands, files, metrics, pages and settings in the documents, compared with the code. */
@NullMarked
package io.understudy.documentation;

import org.jspecify.annotations.NullMarked;
