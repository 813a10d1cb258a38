/** For tests of applications: IDs without a server. */
package dev.snowlane.spring.boot.test;
