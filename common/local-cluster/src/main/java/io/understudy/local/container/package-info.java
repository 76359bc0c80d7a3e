/**
 * Servers in containers, through Testcontainers. A second way to run what tests otherwise run as processes.
 *
 * <p>Containers share the machine's network and find their files under the same paths, so that everything else, fault
 * proxies included, is the same for both ways. This needs a Docker engine on this machine, running Linux.
 */
@NullMarked
package io.understudy.local.container;

import org.jspecify.annotations.NullMarked;
