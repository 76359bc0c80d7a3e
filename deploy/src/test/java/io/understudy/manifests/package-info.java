/** What is shipped for others to run: a Compose file, manifests for Kubernetes. */
@NullMarked
package io.understudy.manifests;

import org.jspecify.annotations.NullMarked;
