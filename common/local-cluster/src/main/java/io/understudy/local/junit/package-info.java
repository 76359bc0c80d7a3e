/**
 * JUnit 5 extensions that give tests real clusters.
 *
 * <p>{@link io.understudy.local.junit.EtcdExtension} runs an etcd cluster for a test class or for each test, mends
 * after each test what the test broke, and names the members' logs when a test fails.
 */
@NullMarked
package io.understudy.local.junit;

import org.jspecify.annotations.NullMarked;
