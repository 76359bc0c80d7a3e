/** The files of the dashboard's page, read from the class path once. */
@NullMarked
package io.understudy.gateway.page;

import org.jspecify.annotations.NullMarked;
