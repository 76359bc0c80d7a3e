/**
 * The dashboard: this gateway, its source, and other gateways, mirrors and supervisors, now and over the last minutes.
 */
@NullMarked
package io.understudy.gateway.dashboard;

import org.jspecify.annotations.NullMarked;
